/** Limits per process. Unpacking has its own limit, so that slow senders do not block it. */
export const uploadSlots = {
  inAll: { all: 12, ofOne: 2 },
  receiving: { all: 8, ofOne: 2 },
  unpacking: { all: 3, ofOne: 1 },
  /** Small files are received into memory. */
  reading: { all: 16, ofOne: 1 },
} as const;

/** Frees the slot. A second call does nothing. */
export type GiveBack = () => void;

export interface SlotLimits {
  readonly all: number;
  readonly ofOne: number;
}

export class Slots {
  readonly #limits: SlotLimits;
  readonly #taken = new Set<{ readonly accountId: string }>();
  readonly #line: { readonly accountId: string; readonly call: (giveBack: GiveBack) => void }[] =
    [];

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** @returns undefined if this account cannot have a slot now */
  tryTake(accountId: string): GiveBack | undefined {
    return this.#hasRoomFor(accountId) ? this.#take(accountId) : undefined;
  }

  /** Waits for a slot. An account that has used up its own slots lets others go first. */
  take(accountId: string): Promise<GiveBack> {
    return new Promise((resolve) => {
      this.#line.push({ accountId, call: resolve });
      this.#callNext();
    });
  }

  #take(accountId: string): GiveBack {
    const slot = { accountId };
    this.#taken.add(slot);
    return () => {
      this.#taken.delete(slot);
      this.#callNext();
    };
  }

  #callNext(): void {
    for (;;) {
      const at = this.#line.findIndex(({ accountId }) => this.#hasRoomFor(accountId));
      const [next] = at === -1 ? [] : this.#line.splice(at, 1);
      if (!next) return;
      next.call(this.#take(next.accountId));
    }
  }

  #hasRoomFor(accountId: string): boolean {
    const own = [...this.#taken].filter((slot) => slot.accountId === accountId).length;
    return own < this.#limits.ofOne && this.#taken.size < this.#limits.all;
  }
}
