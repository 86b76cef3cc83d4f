import type { SweptTable } from '../../src/app/retention.ts';
import { Retention } from '../../src/kernel/retention.ts';

type Sweep = (before: Date) => Promise<number>;

/** Each memory adapter deletes what the rule of its table would delete. A table with a new rule does not compile until one does. */
export class MemoryRetention extends Retention {
  readonly #sweeps: Readonly<Record<SweptTable, Sweep>>;

  constructor(sweeps: Readonly<Record<SweptTable, Sweep>>) {
    super();
    this.#sweeps = sweeps;
  }

  override sweep(table: SweptTable, before: Date): Promise<number> {
    return this.#sweeps[table](before);
  }
}
