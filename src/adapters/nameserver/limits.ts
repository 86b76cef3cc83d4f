import { randomInt } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** What askers may hold of a name server. A network is the /24 of an IPv4 address, or the /56 of an IPv6 address. */
export const nameServerLimits = {
  /** Answers by datagrams to one network; its further ones are truncated, so that it comes over TCP. */
  answersPerSecond: 20,
  /** Beyond them, each new one ends one that has been quiet. */
  connections: 1_000,
  connectionsOfNetwork: 50,
  /** A connection ends when no whole question was asked and answered for so long. */
  questionMs: 10_000,
  /** Who connects has a question at hand. */
  firstQuestionMs: 2_000,
  /** Over TCP. No real question comes close. */
  questionBytes: 4_096,
} as const;

/**
 * Of one of several processes that share a port, because each counts by itself. Together they give no more than the limit
 * (or one each), and often less: the system does not spread datagrams evenly.
 */
export const shareOf = ({ answersPerSecond }: NameServerLimits, processes: number): number =>
  Math.max(1, Math.floor(answersPerSecond / processes));

export type NameServerLimits = Readonly<Record<keyof typeof nameServerLimits, number>>;

const slots = 0x1_0000;

interface RateOptions {
  readonly perSecond: number;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/**
 * Counts answers by network, in a table of fixed size: forged senders cannot fill it. Two networks may share a slot,
 * and nobody outside can tell which; then each gets a part, and asks again over TCP.
 */
export class AnswerRate {
  readonly #counts = new Uint32Array(slots);
  readonly #seed = randomInt(2 ** 31);
  readonly #perSecond: number;
  readonly #elapsed: () => number;
  #second = -1;

  constructor({ perSecond, elapsed = () => performance.now() }: RateOptions) {
    this.#perSecond = perSecond;
    this.#elapsed = elapsed;
  }

  /** Counts one answer. @returns false when the network has had all of this second */
  take(network: string): boolean {
    const second = Math.floor(this.#elapsed() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#counts.fill(0);
    }
    const slot = this.#slotOf(network);
    const count = this.#counts[slot] ?? 0;
    if (count >= this.#perSecond) return false;
    this.#counts[slot] = count + 1;
    return true;
  }

  /** FNV-1a, from a start that is secret. */
  #slotOf(network: string): number {
    let hash = 0x811c_9dc5 ^ this.#seed;
    for (let at = 0; at < network.length; at++) {
      hash = Math.imul(hash ^ network.charCodeAt(at), 0x0100_0193);
    }
    return (hash ^ (hash >>> 16)) & (slots - 1);
  }
}

/** What one asker can speak for at most: the /24 of an IPv4 address, the /56 of an IPv6 address. */
export const networkOf = (address: string): string => {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return address.slice(0, address.lastIndexOf('.'));
  // The name of an interface may follow a link-local address.
  const [plain = ''] = address.split('%', 1);
  if (!ipaddr.isValid(plain)) return 'unknown';
  const bytes = ipaddr.process(plain).toByteArray();
  return bytes.slice(0, bytes.length === 4 ? 3 : 7).join('.');
};
