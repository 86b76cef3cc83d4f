import { describe, expect, test } from '@jest/globals';
import { textFiles, type TextParser } from '../support/text-parsers.ts';

const megabyte = 2 ** 20;
/** Milliseconds of CPU time: any linear parser needs less for 1 MB, even on a slow machine. */
const patience = 50;
const tries = 3;

const costOf = (work: () => unknown): number => {
  const before = process.cpuUsage();
  try {
    work();
  } catch {
    // A refusal counts as an answer.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

/** The best of several tries: the first one also compiles, and the machine is shared. */
const leastCostOf = (work: () => unknown): number => {
  let least = Infinity;
  for (let left = tries; left > 0 && least >= patience; left--) {
    least = Math.min(least, costOf(work));
  }
  return least;
};

/** Includes short ones, which stay below the limits. */
const lengths = [megabyte, megabyte / 64, 1000];

const repeated = (letters: string, length: number): string =>
  letters.repeat(Math.ceil(length / letters.length)).slice(0, length);

/** A megabyte of each letter, of each with its neighbour, and of each between two others. */
const textsOf = ({ letters }: TextParser): readonly string[] =>
  letters.flatMap((letter, at) => {
    const next = letters[(at + 1) % letters.length] ?? letter;
    return lengths.flatMap((length) => [
      repeated(letter, length),
      repeated(letter + next, length),
      `x${repeated(letter, length)}y`,
    ]);
  });

const parsers = Object.entries(textFiles).flatMap(([path, file]) =>
  typeof file === 'string'
    ? []
    : Object.entries(file.parsers).map(([name, parser]) => [path, name, parser] as const),
);

describe('a megabyte of the same letters', () => {
  test.each(parsers)('is read quickly by %s: %s', (_, __, parser) => {
    const slow = textsOf(parser)
      .map((text) => [text.slice(0, 12), leastCostOf(() => parser.read(text))] as const)
      .filter(([, cost]) => cost >= patience);
    expect(slow).toEqual([]);
  });
});
