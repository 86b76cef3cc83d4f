import ipaddr from 'ipaddr.js';

/** Limits per network: the /24 of an IPv4 address, or the /56 of an IPv6 address. */
export const nameServerLimits = {
  answersPerSecond: 20,
  connections: 1_000,
  connectionsOfNetwork: 50,
  /** A connection ends when no question was answered for this long. */
  questionMs: 10_000,
  /** Shorter, because clients connect only to ask immediately. */
  firstQuestionMs: 2_000,
  questionBytes: 4_096,
} as const;

/** Divides the limit: processes on one port count separately, because the system does not spread datagrams evenly. */
export const shareOf = ({ answersPerSecond }: NameServerLimits, processes: number): number =>
  Math.max(1, Math.floor(answersPerSecond / processes));

export type NameServerLimits = Readonly<Record<keyof typeof nameServerLimits, number>>;

interface RateOptions {
  readonly perSecond: number;
  readonly elapsed?: () => number;
}

/** Counts within a second. Forged senders cannot fill the memory, because each second begins without counts. */
export class AnswerRate {
  readonly #counts = new Map<string, number>();
  readonly #perSecond: number;
  readonly #elapsed: () => number;
  #second = -1;

  constructor({ perSecond, elapsed = () => performance.now() }: RateOptions) {
    this.#perSecond = perSecond;
    this.#elapsed = elapsed;
  }

  take(network: string): boolean {
    const second = Math.floor(this.#elapsed() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#counts.clear();
    }
    const count = this.#counts.get(network) ?? 0;
    if (count >= this.#perSecond) return false;
    this.#counts.set(network, count + 1);
    return true;
  }
}

export const networkOf = (address: string): string => {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return address.slice(0, address.lastIndexOf('.'));
  // A link-local address may end with an interface name.
  const [plain = ''] = address.split('%', 1);
  if (!ipaddr.isValid(plain)) return 'unknown';
  const bytes = ipaddr.process(plain).toByteArray();
  return bytes.slice(0, bytes.length === 4 ? 3 : 7).join('.');
};
