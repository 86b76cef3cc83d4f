import type { Most } from '../../kernel/queue.ts';
import { slowMs } from '../../notifications/domain/webhook-delivery.ts';
import type { ClaimedDelivery, Claiming, DueDelivery } from '../../notifications/webhook-ports.ts';

export interface Room<Item, Wanted> {
  readonly wanted: Wanted;
  readonly isMoreThan: (claimed: readonly Item[]) => boolean;
}

/** Limits how much work this process has at once, and how much of it belongs to one account. */
export interface Share<Item, Wanted = Most> {
  readonly lanes: readonly string[];
  readonly isRoomy: boolean;
  /** @returns undefined if the lane is full */
  room(lane: string): Room<Item, Wanted> | undefined;
  begin(item: Item, lane: string): void;
  end(item: Item): void;
  /** After `afterMs`, an item may free its place for others. @returns whether it did */
  readonly yields?: { readonly afterMs: number; readonly give: (item: Item) => boolean };
}

const mostRemembered = 500;

interface Places<Item> {
  readonly atOnce: number;
  /** The room that must be free before the worker looks for more; default 1. */
  readonly refill?: number;
  readonly accountOf?: (item: Item) => string;
}

export class Shared<Item> implements Share<Item> {
  readonly lanes = ['all'];
  readonly #places: Places<Item>;
  #taken = 0;
  /** The latest is last. */
  #lately: readonly string[] = [];

  constructor(places: Places<Item>) {
    this.#places = places;
  }

  get isRoomy(): boolean {
    const { atOnce, refill = 1 } = this.#places;
    return atOnce - this.#taken >= refill;
  }

  room(): Room<Item, Most> | undefined {
    const limit = this.#places.atOnce - this.#taken;
    if (limit <= 0) return undefined;
    const wanted = { limit, lately: this.#lately };
    return { wanted, isMoreThan: (claimed) => claimed.length === limit };
  }

  begin(item: Item): void {
    this.#taken += 1;
    const accountId = this.#places.accountOf?.(item);
    if (accountId === undefined) return;
    const others = this.#lately.filter((id) => id !== accountId);
    this.#lately = [...others, accountId].slice(-mostRemembered);
  }

  end(): void {
    this.#taken -= 1;
  }
}

const window = 500;

/** A quick call that takes longer than a second becomes slow. */
export const places = { quick: 200, slow: 400 } as const;
/** `receiver` is a limit per account. Quick and slow calls are counted separately, except for `webhook`. */
export const mostAtOnce = { webhook: 4, receiver: 6, account: 10 } as const;

interface Call extends DueDelivery {
  readonly isSlow: boolean;
}

type Called = Pick<ClaimedDelivery, 'id' | 'receiver'> & {
  readonly delivery: Pick<ClaimedDelivery['delivery'], 'webhookId' | 'accountId'>;
};
type Counted = keyof typeof mostAtOnce;

const keysOf = ({ webhookId, accountId, receiver, isSlow }: Call): Record<Counted, string> => {
  const account = `${isSlow ? 'slow' : 'quick'} ${accountId}`;
  return { webhook: webhookId, receiver: `${account} ${receiver}`, account };
};

export class CallsUnderWay implements Share<ClaimedDelivery, Claiming> {
  readonly lanes = ['quick', 'slow'];
  readonly isRoomy = true;
  readonly yields = { afterMs: slowMs, give: ({ id }: Called) => this.makeSlow(id) };
  readonly #calls = new Map<string, Call>();

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

  full(isSlow: boolean): Claiming['except'] {
    const all = [...this.#calls.values()];
    const counts = new Counts(all);
    const calls = all.filter((call) => call.isSlow === isSlow);
    const receivers = calls.filter((call) => counts.isFull(call, 'receiver'));
    const byKey = new Map(receivers.map((call) => [keysOf(call).receiver, call]));
    return {
      webhooks: distinct(all, 'webhookId', (call) => counts.isFull(call, 'webhook')),
      accounts: distinct(calls, 'accountId', (call) => counts.isFull(call, 'account')),
      receivers: [...byKey.values()].map(({ accountId, receiver }) => ({ accountId, receiver })),
    };
  }

  choose(due: readonly DueDelivery[], isSlow: boolean): readonly DueDelivery[] {
    const counts = new Counts(this.#calls.values());
    const room = this.#free(isSlow);
    const chosen: DueDelivery[] = [];
    for (const one of due) {
      if (chosen.length >= room) break;
      const call = { ...one, isSlow };
      if (counts.isFull(call)) continue;
      chosen.push(one);
      counts.add(call);
    }
    return chosen;
  }

  begin({ id, receiver, delivery: { webhookId, accountId } }: Called, lane: string): void {
    this.#calls.set(id, { id, receiver, webhookId, accountId, isSlow: lane === 'slow' });
  }

  /** Moves a call to the slow places, even if they are full. @returns whether it moved */
  makeSlow(id: string): boolean {
    const call = this.#calls.get(id);
    if (!call || call.isSlow) return false;
    this.#calls.set(id, { ...call, isSlow: true });
    return true;
  }

  end({ id }: Pick<Called, 'id'>): void {
    this.#calls.delete(id);
  }

  #free(isSlow: boolean): number {
    const taken = [...this.#calls.values()].filter((call) => call.isSlow === isSlow);
    return (isSlow ? places.slow : places.quick) - taken.length;
  }
}

class Counts {
  readonly #counts = { webhook: countsByKey(), receiver: countsByKey(), account: countsByKey() };

  constructor(calls: Iterable<Call>) {
    for (const call of calls) this.add(call);
  }

  isFull(call: Call, ...counted: readonly Counted[]): boolean {
    const keys = keysOf(call);
    const asked = counted.length > 0 ? counted : counteds;
    return asked.some((one) => (this.#counts[one].get(keys[one]) ?? 0) >= mostAtOnce[one]);
  }

  add(call: Call): void {
    const keys = keysOf(call);
    for (const one of counteds) {
      this.#counts[one].set(keys[one], (this.#counts[one].get(keys[one]) ?? 0) + 1);
    }
  }
}

const counteds = ['webhook', 'receiver', 'account'] as const;
const countsByKey = () => new Map<string, number>();

const distinct = (
  calls: readonly Call[],
  name: 'webhookId' | 'accountId',
  isWanted: (call: Call) => boolean,
): readonly string[] => [...new Set(calls.filter(isWanted).map((call) => call[name]))];
