import type { Most } from '../../kernel/queue.ts';

/** Room for more in one lane. */
export interface Room<Item, Wanted> {
  readonly wanted: Wanted;
  /** Whether there may be more that is due than what was claimed. */
  readonly isMoreThan: (claimed: readonly Item[]) => boolean;
}

/** How much of one kind of work this process does at once, and whose. */
export interface Share<Item, Wanted = Most> {
  /** Each has room of its own. */
  readonly lanes: readonly string[];
  /** Whether there is room for enough to look for more. */
  readonly isRoomy: boolean;
  /** Undefined if the lane is full. */
  room(lane: string): Room<Item, Wanted> | undefined;
  begin(item: Item, lane: string): void;
  end(item: Item): void;
  /** After that time, an item may give its place to others. @returns whether it did */
  readonly yields?: { readonly afterMs: number; readonly give: (item: Item) => boolean };
}

/** Accounts whose last turn is remembered. */
const mostRemembered = 500;

interface Places<Item> {
  readonly atOnce: number;
  /** Looks for more as soon as there is room for so many; 1 by default. */
  readonly refill?: number;
  /** Then accounts take turns. */
  readonly accountOf?: (item: Item) => string;
}

/** So many at once. */
export class Shared<Item> implements Share<Item> {
  readonly lanes = ['all'];
  readonly #places: Places<Item>;
  #taken = 0;
  /** Accounts that had a turn, the latest last. */
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
