import type { Claiming, DueDelivery } from '../../notifications/webhook-ports.ts';

/**
 * Calls at a time that begin. Each is a socket that waits, for 10 seconds at most. A quick one that takes long gives its
 * place away after a second, so that at most 200 more begin in each second.
 */
export const places = { quick: 200, slow: 400 } as const;
/** Of one webhook; and, of the quick ones and of the slow ones, to one receiver for one account, and of one account. */
export const mostAtOnce = { webhook: 4, receiver: 6, account: 10 } as const;

export interface CallUnderWay extends DueDelivery {
  /** Whether it has a place among the slow ones. */
  isSlow: boolean;
}

type Call = Readonly<CallUnderWay>;
type Counted = keyof typeof mostAtOnce;

const counteds = Object.keys(mostAtOnce) as readonly Counted[];

const laneOf = ({ isSlow }: Call): string => (isSlow ? 'slow' : 'quick');

/** Under which key a call counts. Slow ones keep no place of quick ones, also not of their own account. */
const keyOf: Readonly<Record<Counted, (call: Call) => string>> = {
  webhook: ({ webhookId }) => webhookId,
  receiver: (call) => `${laneOf(call)} ${call.accountId} ${call.receiver}`,
  account: (call) => `${laneOf(call)} ${call.accountId}`,
};

/** What this process calls at the moment, and what there is room for. */
export class CallsUnderWay {
  readonly #calls = new Set<CallUnderWay>();
  readonly #counts = new Counts();
  #slow = 0;

  room(isSlow: boolean): number {
    const free = isSlow ? places.slow - this.#slow : places.quick - (this.#calls.size - this.#slow);
    return Math.max(0, free);
  }

  /** Those that get no more calls now. */
  full(isSlow: boolean): Claiming['except'] {
    const calls = [...this.#calls].filter((call) => call.isSlow === isSlow);
    const isFull = (counted: Counted) => (call: Call) => this.#counts.isFull(counted, call);
    const receivers = calls.filter(isFull('receiver'));
    const byKey = new Map(receivers.map((call) => [keyOf.receiver(call), call]));
    return {
      webhooks: distinct([...this.#calls].filter(isFull('webhook')), 'webhookId'),
      accounts: distinct(calls.filter(isFull('account')), 'accountId'),
      receivers: [...byKey.values()].map(({ accountId, receiver }) => ({ accountId, receiver })),
    };
  }

  /** The first of them, in order, that there is room for. */
  choose(due: readonly DueDelivery[], isSlow: boolean): readonly DueDelivery[] {
    const counts = new Counts(this.#counts);
    const chosen: DueDelivery[] = [];
    const room = this.room(isSlow);
    for (const one of due) {
      if (chosen.length === room) break;
      const call = { ...one, isSlow };
      if (counteds.some((counted) => counts.isFull(counted, call))) continue;
      chosen.push(one);
      counts.add(call, 1);
    }
    return chosen;
  }

  begin(call: CallUnderWay): void {
    this.#calls.add(call);
    this.#counts.add(call, 1);
    if (call.isSlow) this.#slow += 1;
  }

  /** A call that takes long gives its place to others, even where the slow ones have none. @returns whether it did */
  makeSlow(call: CallUnderWay): boolean {
    if (call.isSlow) return false;
    this.#counts.add(call, -1);
    call.isSlow = true;
    this.#counts.add(call, 1);
    this.#slow += 1;
    return true;
  }

  end(call: CallUnderWay): void {
    this.#calls.delete(call);
    this.#counts.add(call, -1);
    if (call.isSlow) this.#slow -= 1;
  }
}

/** How many calls count under which key. */
class Counts {
  readonly #counts: Readonly<Record<Counted, Map<string, number>>>;

  constructor(before?: Counts) {
    const copy = (counted: Counted) => new Map(before ? before.#counts[counted] : []);
    this.#counts = {
      webhook: copy('webhook'),
      receiver: copy('receiver'),
      account: copy('account'),
    };
  }

  isFull(counted: Counted, call: Call): boolean {
    return (this.#counts[counted].get(keyOf[counted](call)) ?? 0) >= mostAtOnce[counted];
  }

  add(call: Call, by: number): void {
    for (const counted of counteds) {
      const [counts, key] = [this.#counts[counted], keyOf[counted](call)];
      const count = (counts.get(key) ?? 0) + by;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    }
  }
}

const distinct = (calls: readonly Call[], name: 'webhookId' | 'accountId'): readonly string[] => [
  ...new Set(calls.map((call) => call[name])),
];
