import { slowMs } from '../../notifications/domain/webhooks/attempts.ts';
import type { ClaimedDelivery, Claiming, DueDelivery } from '../../notifications/webhook-ports.ts';
import type { Room, Share } from './share.ts';

/** How many due deliveries are looked at in one search. */
const window = 500;

/**
 * Calls at a time that begin. Each is a socket that waits, for 10 seconds at most. A quick one that takes long gives its
 * place away after a second, so that at most 200 more begin in each second.
 */
export const places = { quick: 200, slow: 400 } as const;
/** Of one webhook; and, of the quick ones and of the slow ones, to one receiver for one account, and of one account. */
export const mostAtOnce = { webhook: 4, receiver: 6, account: 10 } as const;

interface Call extends DueDelivery {
  /** Whether it has a place among the slow ones. */
  readonly isSlow: boolean;
}

type Called = Pick<ClaimedDelivery, 'id' | 'receiver'> & {
  readonly delivery: Pick<ClaimedDelivery['delivery'], 'webhookId' | 'accountId'>;
};
type Counted = keyof typeof mostAtOnce;

const counteds = Object.keys(mostAtOnce) as readonly Counted[];

const laneOf = ({ isSlow }: Call): string => (isSlow ? 'slow' : 'quick');

/** Under which key a call counts. Slow ones keep no place of quick ones, also not of their own account. */
const keyOf: Readonly<Record<Counted, (call: Call) => string>> = {
  webhook: ({ webhookId }) => webhookId,
  receiver: (call) => `${laneOf(call)} ${call.accountId} ${call.receiver}`,
  account: (call) => `${laneOf(call)} ${call.accountId}`,
};

/** What this process calls at the moment, and what there is room for. Slow receivers have places of their own. */
export class CallsUnderWay implements Share<ClaimedDelivery, Claiming> {
  readonly lanes = ['quick', 'slow'];
  readonly isRoomy = true;
  readonly yields = { afterMs: slowMs, give: ({ id }: Called) => this.makeSlow(id) };
  readonly #calls = new Map<string, Call>();
  readonly #counts = new Counts();

  room(lane: string): Room<ClaimedDelivery, Claiming> | undefined {
    const isSlow = lane === 'slow';
    if (this.#free(isSlow) <= 0) return undefined;
    const except = this.full(isSlow);
    let isMore = Object.values(except).some(({ length }) => length > 0);
    const choose = (due: readonly DueDelivery[]) => {
      const chosen = this.choose(due, isSlow);
      isMore ||= chosen.length < due.length || due.length === window;
      return chosen;
    };
    return { wanted: { limit: window, isSlow, except, choose }, isMoreThan: () => isMore };
  }

  /** Those that get no more calls now. */
  full(isSlow: boolean): Claiming['except'] {
    const all = [...this.#calls.values()];
    const calls = all.filter((call) => call.isSlow === isSlow);
    const isFull = (counted: Counted) => (call: Call) => this.#counts.isFull(counted, call);
    const receivers = calls.filter(isFull('receiver'));
    const byKey = new Map(receivers.map((call) => [keyOf.receiver(call), call]));
    return {
      webhooks: distinct(all.filter(isFull('webhook')), 'webhookId'),
      accounts: distinct(calls.filter(isFull('account')), 'accountId'),
      receivers: [...byKey.values()].map(({ accountId, receiver }) => ({ accountId, receiver })),
    };
  }

  /** The first of them, in order, that there is room for. */
  choose(due: readonly DueDelivery[], isSlow: boolean): readonly DueDelivery[] {
    const counts = new Counts(this.#counts);
    const chosen: DueDelivery[] = [];
    const room = this.#free(isSlow);
    for (const one of due) {
      if (chosen.length >= room) break;
      const call = { ...one, isSlow };
      if (counteds.some((counted) => counts.isFull(counted, call))) continue;
      chosen.push(one);
      counts.add(call, 1);
    }
    return chosen;
  }

  begin({ id, receiver, delivery: { webhookId, accountId } }: Called, lane: string): void {
    this.#set({ id, receiver, webhookId, accountId, isSlow: lane === 'slow' });
  }

  /** A call that takes long gives its place to others, even where the slow ones have none. @returns whether it did */
  makeSlow(id: string): boolean {
    const call = this.#calls.get(id);
    if (!call || call.isSlow) return false;
    this.#counts.add(call, -1);
    this.#set({ ...call, isSlow: true });
    return true;
  }

  end({ id }: Pick<Called, 'id'>): void {
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    this.#counts.add(call, -1);
  }

  #set(call: Call): void {
    this.#calls.set(call.id, call);
    this.#counts.add(call, 1);
  }

  #free(isSlow: boolean): number {
    const taken = [...this.#calls.values()].filter((call) => call.isSlow === isSlow);
    return (isSlow ? places.slow : places.quick) - taken.length;
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
