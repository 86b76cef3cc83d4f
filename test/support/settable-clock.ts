import { Clock, Ids } from '../../src/kernel/ports.ts';

/** Stands still until it is set, forward or back. */
export class SettableClock extends Clock {
  #now: Date;

  constructor(now: Date) {
    super();
    this.#now = now;
  }

  override now(): Date {
    return new Date(this.#now);
  }

  set(now: Date): void {
    this.#now = now;
  }

  advance(milliseconds: number): void {
    this.#now = new Date(this.#now.getTime() + milliseconds);
  }
}

/** A moment that many files use. Files in one process share it, so nobody may change it. */
export const fixedTime = (text: string): Date =>
  Object.defineProperty(new Date(text), 'setTime', {
    value: () => {
      throw new Error(`${text} is shared by many tests: change a copy of it`);
    },
  });

/** `acct_1`, `key_2`, … */
export class CountingIds extends Ids {
  #last = 0;

  override next(prefix: string): string {
    this.#last += 1;
    return `${prefix}_${String(this.#last).padStart(6, '0')}`;
  }
}
