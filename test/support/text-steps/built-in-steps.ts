/** How many characters or elements a call of a built-in function walks, beside what the coverage of our code counts. */
type Walked = (receiver: never, first: never, second: never, result: never) => number;

const length = (receiver: { readonly length: number }): number => receiver.length;
/** From where it looks to where it finds. */
const upTo = (text: string, sought: string, from = 0): number => {
  const at = text.indexOf(sought, from);
  return (at < 0 ? text.length : at) - Math.min(from, text.length);
};

/** Putting marks in their order moves each past all those of its run (Unicode 15, section 3.11). */
const normalized = (text: string): number =>
  (text.match(/\p{M}+/gu) ?? []).reduce((sum, { length: run }) => sum + run * run, text.length);

const walked: readonly (readonly [object, Readonly<Record<string | symbol, Walked>>])[] = [
  [
    String.prototype,
    {
      ...{ indexOf: upTo, includes: upTo, split: length, replace: length, replaceAll: length },
      ...{ match: length, matchAll: length, search: length, toLowerCase: length },
      ...{ toUpperCase: length, isWellFormed: length, toWellFormed: length },
      ...{ trim: length, trimEnd: length, trimStart: length, localeCompare: length },
      normalize: normalized,
      [Symbol.iterator]: length,
    },
  ],
  [
    Array.prototype,
    {
      ...{ includes: length, indexOf: length, lastIndexOf: length, join: length, shift: length },
      ...{ unshift: length, splice: length, slice: length, sort: length, toSorted: length },
      ...{ reverse: length, toReversed: length, with: length },
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

/** From now on, for this process. */
export const watchBuiltIns = (): void => {
  for (const [prototype, functions] of walked) {
    for (const name of Reflect.ownKeys(functions))
      watch(prototype, name, functions[name as string]!);
  }
};

/** What built-in functions walk during `work`. */
export const stepsInBuiltIns = (work: () => void): number => {
  steps = 0;
  isCounting = true;
  work();
  isCounting = false;
  return steps;
};
