import { seededRandom } from '../support/seeded-random.ts';

/** All that is chosen for one case. The same seed and number choose the same. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number, number = 0) {
    // Neighbours would begin alike: two rounds of multiplication take them apart.
    this.#next = seededRandom(
      Math.imul(Math.imul(seed, 0x9e3779b1) ^ number, 0x85ebca6b) ^ (number >>> 13),
    );
    this.#next();
  }

  /** A whole number from 0 to `end`, without it. */
  below(end: number): number {
    return Math.floor(this.#next() * end);
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<T>(all: readonly T[]): T {
    const picked = all[this.below(all.length)];
    if (picked === undefined) throw new Error('there is nothing to pick from');
    return picked;
  }

  /** Small numbers mostly, large ones seldom. */
  size(largest: number): number {
    return Math.floor(largest ** this.#next());
  }

  times<T>(count: number, make: (at: number) => T): readonly T[] {
    return Array.from({ length: count }, (_, at) => make(at));
  }

  /** Any bytes, one character each. */
  bytes(length: number): string {
    return String.fromCharCode(...this.times(length, () => this.below(256)));
  }

  hex(length: number): string {
    return this.times(length, () => this.below(16).toString(16)).join('');
  }
}
