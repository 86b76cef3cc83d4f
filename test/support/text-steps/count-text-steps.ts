import { Session } from 'node:inspector';
import { analyse } from 'scslre';
import type { TextParser } from '../text-parsers.ts';

/**
 * The number of characters or elements that calls of built-in functions process, in addition to the
 * coverage of our code.
 */
type Walked = (receiver: never, first: never, second: never, result: never) => number;

const length = (receiver: { readonly length: number }): number => receiver.length;
/** The distance from the start of the search to the match. */
const upTo = (text: string, sought: string, from = 0): number => {
  const at = text.indexOf(sought, from);
  return (at < 0 ? text.length : at) - Math.min(from, text.length);
};

/** Ordering marks moves each past all marks of its run (Unicode 15, section 3.11). */
const normalized = (text: string): number =>
  (text.match(/\p{M}+/gu) ?? []).reduce((sum, { length: run }) => sum + run * run, text.length);

const walked: readonly (readonly [object, Readonly<Record<string | symbol, Walked>>])[] = [
  [
    String.prototype,
    {
      indexOf: upTo,
      includes: upTo,
      split: length,
      replace: length,
      replaceAll: length,
      match: length,
      matchAll: length,
      search: length,
      toLowerCase: length,
      toUpperCase: length,
      isWellFormed: length,
      toWellFormed: length,
      trim: length,
      trimEnd: length,
      trimStart: length,
      localeCompare: length,
      normalize: normalized,
      [Symbol.iterator]: length,
    },
  ],
  [
    Array.prototype,
    {
      includes: length,
      indexOf: length,
      lastIndexOf: length,
      join: length,
      shift: length,
      unshift: length,
      splice: length,
      slice: length,
      sort: length,
      toSorted: length,
      reverse: length,
      toReversed: length,
      with: length,
    },
  ],
];

let steps = 0;
let isCounting = false;

const watch = (prototype: object, name: string | symbol, count: Walked): void => {
  const original = Reflect.get(prototype, name) as (...all: unknown[]) => unknown;
  const watched = function (this: unknown, ...all: unknown[]): unknown {
    const result = Reflect.apply(original, this, all);
    if (!isCounting) return result;
    isCounting = false;
    steps += count(this as never, all[0] as never, all[1] as never, result as never);
    isCounting = true;
    return result;
  };
  Object.defineProperty(prototype, name, { value: watched, writable: true, configurable: true });
};

/** Counts from now on, in this process. */
const watchBuiltIns = (): void => {
  for (const [prototype, functions] of walked) {
    for (const name of Reflect.ownKeys(functions))
      watch(prototype, name, functions[name as string]!);
  }
};

/** The number of steps of built-in functions during `work`. */
const stepsInBuiltIns = (work: () => void): number => {
  steps = 0;
  isCounting = true;
  work();
  isCounting = false;
  return steps;
};

/**
 * Counts the steps of each parser for long texts, and prints the parsers whose steps grow faster than their text. Steps
 * are the same on every machine: executed blocks of code (V8's precise coverage), and what built-in functions walk.
 * This is a separate process, because V8 counts blocks only in code that was compiled after the counting began.
 */

/** A short text, which stays below the limits, and a long text. */
const lengths = [500, 16 * 1024];
const mostGrowth = 2.5;
/**
 * Steps that occur with only one of the texts, however long it is, such as first calls and limits between the two
 * lengths.
 */
const constantSteps = 3000;

const repeated = (letters: string, length: number): string =>
  letters.repeat(Math.ceil(length / letters.length)).slice(0, length);

/** Repeats each letter alone, with its neighbour, and between two others. */
const textsOf = ({ letters }: TextParser, length: number): readonly string[] =>
  letters.flatMap((letter, at) => {
    const next = letters[(at + 1) % letters.length] ?? letter;
    const alike = repeated(letter, length);
    return [alike, repeated(letter + next, length), `x${alike}y`];
  });

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

const session = new Session();
session.connect();
/** Commands of this domain answer synchronously. */
const profiler = (command: string, parameters?: object): unknown => {
  let answer: unknown;
  session.post(`Profiler.${command}`, parameters, (error, result) => {
    if (error) throw error;
    answer = result;
  });
  return answer;
};

/** Blocks executed since the last call. */
const takeBlocks = (): number => {
  let blocks = 0;
  for (const { url, functions } of (profiler('takePreciseCoverage') as Coverage).result) {
    if (!url.startsWith('file:')) continue;
    for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
  }
  return blocks;
};

const stepsOf = (parser: TextParser, length: number): number => {
  const texts = textsOf(parser, length);
  takeBlocks();
  const inBuiltIns = stepsInBuiltIns(() => {
    for (const text of texts) {
      try {
        parser.read(text);
      } catch {
        // A refusal counts as an answer.
      }
    }
  });
  return takeBlocks() + inBuiltIns;
};

const isSteep = (parser: TextParser): boolean =>
  lengths.some((length) => {
    const [once, twice] = [stepsOf(parser, length), stepsOf(parser, 2 * length)];
    return twice > mostGrowth * once + constantSteps;
  });

/** These parsers must be found. If they are not, nothing was counted. */
const steepParsers: Readonly<Record<string, TextParser['read']>> = {
  'a nested loop': (text) => {
    let pairs = 0;
    for (let from = 0; from < text.length; from++) {
      for (let to = from; to < text.length; to += 64) pairs += 1;
    }
    return pairs;
  },
  'a search in a loop': (text) => [...text].filter((one) => !text.includes(`${one}!`)),
  'an ordering of marks': (text) => text.normalize('NFKC'),
};

/** Built from strings, because the linter checks literal patterns. */
const builtPatterns = new Set<RegExp>();
globalThis.RegExp = new Proxy(RegExp, {
  construct: (target, given: ConstructorParameters<RegExpConstructor>) => {
    const pattern = new target(...given);
    const [, , , caller = ''] = (new Error().stack ?? '').split('\n');
    if (!caller.includes('/node_modules/')) builtPatterns.add(pattern);
    return pattern;
  },
});
// This pattern must be found, like the steep parsers.
new RegExp(['^(a', '+)+$'].join(''));

profiler('enable');
profiler('startPreciseCoverage', { callCount: true, detailed: true });
const { textFiles } = await import('../text-parsers.ts');
watchBuiltIns();
const listed = Object.entries(textFiles).flatMap(([path, parsers]) =>
  Object.entries(parsers).map(([name, parser]) => [`${path}: ${name}`, parser] as const),
);
const control = Object.entries(steepParsers).map(
  ([name, read]) => [name, { read, letters: ['a', '\u0315\u0300'] }] as const,
);
const steep = [...listed, ...control].filter(([, parser]) => isSteep(parser));
const slow = [...builtPatterns].filter((pattern) => analyse(pattern).reports.length > 0);
process.stdout.write(JSON.stringify([...steep.map(([name]) => name), ...slow.map(String)]));
