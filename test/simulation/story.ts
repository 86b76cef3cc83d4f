import { dayMs, secondMs } from './world/durations.ts';
/** Something that happens to a simulated store, as a line of its story: when, who, and what. */
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

/** `  12 04:33:10 north adds www.north.example`: day, time, who, what. */
export const lineOf = ({ at, who, words }: Step): string =>
  `${String(Math.floor(at / dayMs)).padStart(4)} ${clock(at)} ${who} ${words.join(' ')}`;

/** Hours, minutes and seconds of the day, with milliseconds where there are any. */
const clock = (at: number): string =>
  new Date(at % dayMs).toISOString().slice(11, at % secondMs === 0 ? 19 : 23);

/** A story as a text that a person can read, change and run again. */
export const textOf = ({ seed, days, steps }: Story): string =>
  [`seed ${seed}, ${String(days)} days`, ...steps.map(lineOf)].map((line) => `${line}\n`).join('');

/** @throws Error that names the line that is none */
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

/**
 * Leaves out as many steps as it can while the story still fails: halves first, then smaller parts, then single steps.
 * @param fails runs a story @param most so many stories are run at most
 */
export const shrink = async (
  story: Story,
  fails: (shorter: Story) => Promise<boolean>,
  most = 200,
): Promise<Story> => {
  let best = story;
  let runs = 0;
  for (let part = Math.ceil(best.steps.length / 2); part >= 1 && runs < most;) {
    let isShorter = false;
    for (let from = 0; from < best.steps.length && runs < most;) {
      const steps = [...best.steps.slice(0, from), ...best.steps.slice(from + part)];
      runs += 1;
      if (await fails({ ...best, steps })) {
        best = { ...best, steps };
        isShorter = true;
      } else from += part;
    }
    if (part === 1 && !isShorter) break;
    part = part === 1 ? 1 : Math.ceil(part / 2);
  }
  return best;
};
