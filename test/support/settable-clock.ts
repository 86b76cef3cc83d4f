import { Clock } from '../../src/kernel/clock.ts';

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
