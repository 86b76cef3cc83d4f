import type { CounterSnapshot, CounterSnapshots } from '../../access/ports.ts';
import type { Bell } from '../../kernel/signals.ts';
import type { Clock } from '../../kernel/ports.ts';

/** Counters that can be copied out and put back. */
export interface KeepableCounters {
  /** Rings at the first change since `takeChanges`. */
  readonly news: Bell;
  takeChanges(): readonly CounterSnapshot[];
  putBack(snapshots: readonly CounterSnapshot[]): void;
  restore(snapshots: readonly CounterSnapshot[]): void;
}

/** Keeps this process's counters over a restart. A crash loses the counts since the last `save`. */
export class CounterKeeper {
  readonly #counters: KeepableCounters;
  readonly #snapshots: CounterSnapshots;
  readonly #clock: Clock;

  constructor(counters: KeepableCounters, snapshots: CounterSnapshots, clock: Clock) {
    this.#counters = counters;
    this.#snapshots = snapshots;
    this.#clock = clock;
  }

  /** Rings when there is something to store. */
  get news(): Bell {
    return this.#counters.news;
  }

  /** Before the first request. @throws Unavailable */
  async restore(): Promise<void> {
    this.#counters.restore(await this.#snapshots.load());
  }

  /** Stores the changes; after a failure they are part of the next call. @throws Unavailable */
  async save(): Promise<void> {
    const changes = this.#counters.takeChanges();
    try {
      await this.#snapshots.save(changes, this.#clock.now());
    } catch (error) {
      this.#counters.putBack(changes);
      throw error;
    }
  }
}
