import { dayMs, secondMs } from './world/durations.ts';
import type { Chance } from './world/chance.ts';

export interface Step {
  /** Milliseconds since the beginning. */
  readonly at: number;
  readonly who: string;
  /** The verb, and its objects. */
  readonly words: readonly string[];
}

export interface Story {
  readonly seed: string;
  readonly days: number;
  readonly steps: readonly Step[];
}

/** Formats a step as `  12 04:33:10 north adds www.north.example`: day, time, who, what. */
export const lineOf = ({ at, who, words }: Step): string =>
  `${String(Math.floor(at / dayMs)).padStart(4)} ${clock(at)} ${who} ${words.join(' ')}`;

/** Hours, minutes and seconds of the day, with milliseconds if they are not 0. */
const clock = (at: number): string =>
  new Date(at % dayMs).toISOString().slice(11, at % secondMs === 0 ? 19 : 23);

export const textOf = ({ seed, days, steps }: Story): string =>
  [`seed ${seed}, ${String(days)} days`, ...steps.map(lineOf)].map((line) => `${line}\n`).join('');

/** @throws Error that names the invalid line */
export const readStory = (text: string): Story => {
  const [title = '', ...lines] = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  const [, seed, days] = /^seed (\S+), (\d+) days$/.exec(title) ?? [];
  if (seed === undefined) throw new Error('A story begins with a line like: seed 7, 365 days');
  return { seed, days: Number(days), steps: lines.map(readStep) };
};

const readStep = (line: string): Step => {
  const read = /^\s*(\d+) (\d\d):(\d\d):(\d\d(?:\.\d{3})?) (\S+) (\S.*)$/.exec(line);
  if (!read)
    throw new Error(`No step of a story: ${line}\nOne is like: 12 04:33:10 north adds x.example`);
  const [, days, hours, minutes, seconds, who = '', words = ''] = read;
  const inDay = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * secondMs;
  return { at: Number(days) * dayMs + Math.round(inDay), who, words: words.trim().split(/\s+/) };
};

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

  /** Draws the logarithm, so that minutes are as likely as days. */
  wait(leastMs: number, mostMs: number): void {
    const ms = leastMs * (mostMs / leastMs) ** this.chance.next();
    this.at += Math.max(1, Math.round(ms / secondMs)) * secondMs;
  }

  /** Moves to a random time before `end`. */
  jump(end: number): void {
    this.at += Math.floor((this.chance.next() * (end - this.at)) / secondMs) * secondMs;
  }
}

export type PenOf = (...subject: readonly string[]) => Pen;
