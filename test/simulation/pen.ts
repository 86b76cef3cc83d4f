import type { Step } from './story.ts';
import type { Chance } from './world/chance.ts';
import { secondMs } from './world/durations.ts';

/** Writes the steps of one subject, in the order of their times. */
export class Pen {
  readonly chance: Chance;
  readonly #steps: Step[];
  /** Milliseconds since the beginning of the story; whole seconds. */
  at = 0;

  constructor(steps: Step[], chance: Chance) {
    this.#steps = steps;
    this.chance = chance;
  }

  /** @param line a step without its time, such as `north adds www.north.test` */
  write(line: string): void {
    const [who = '', ...words] = line.split(' ');
    this.#steps.push({ at: this.at, who, words });
  }

  /** Minutes are as likely as days: the logarithm is drawn. */
  wait(leastMs: number, mostMs: number): void {
    const ms = leastMs * (mostMs / leastMs) ** this.chance.next();
    this.at += Math.max(1, Math.round(ms / secondMs)) * secondMs;
  }

  /** To any time before `end`. */
  jump(end: number): void {
    this.at += Math.floor((this.chance.next() * (end - this.at)) / secondMs) * secondMs;
  }
}

/** A pen for a subject, with a stream of chance of its own. */
export type PenOf = (...subject: readonly string[]) => Pen;
