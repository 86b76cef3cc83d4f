import { seededRandom } from '../support/seeded-random.ts';

/** The choices for one case. The same seed and number give the same choices. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number, number = 0) {
    // Two rounds of multiplication, because consecutive seeds would begin alike.
    this.#next = seededRandom(
      Math.imul(Math.imul(seed, 0x9e3779b1) ^ number, 0x85ebca6b) ^ (number >>> 13),
    );
    this.#next();
  }

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

  /** Small numbers mostly, and large ones rarely. */
  size(largest: number): number {
    return Math.floor(largest ** this.#next());
  }

  times<T>(count: number, make: (at: number) => T): readonly T[] {
    return Array.from({ length: count }, (_, at) => make(at));
  }

  bytes(length: number): string {
    return String.fromCharCode(...this.times(length, () => this.below(256)));
  }

  hex(length: number): string {
    return this.times(length, () => this.below(16).toString(16)).join('');
  }
}

/** Values that have broken programs before. */
const known = [
  '',
  ' ',
  '\t\r\n',
  '0',
  '-1',
  '1e999',
  'NaN',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../../../etc/passwd',
  '..\\..\\windows\\win.ini',
  '/dev/zero',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '"><script>alert(1)</script>',
  "' OR '1'='1' --",
  '"; DROP TABLE pets; --',
  '${7*7}{{7*7}}<%= 7*7 %>',
  '%00',
  '%0d%0aSet-Cookie: a=b',
  'a\u0000b',
  '\ufeff',
  '\u202egnp.exe',
  '\ud83d\ude00'.repeat(50),
  'e\u0301\u0327'.repeat(30),
  '\uff0e\uff0e/',
  'xn--',
  'xn--a',
  'xn--\u00fc',
  'a..b',
  '.',
  '..',
  '*.example.com',
  'a'.repeat(64) + '.test',
  'a.'.repeat(126) + 'b',
  '127.0.0.1',
  '[::1]',
  '0x7f.1',
  '2147483648',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '0'.repeat(400),
  '1'.repeat(400),
  '1969-12-31T23:59:59.999Z',
  '275760-09-13T00:00:00.001Z',
  '2026-02-30',
  '!!js/function "x"',
  '&a [*a, *a]',
  '- - - - - - - -',
];

const repeated = [' ', '/', '.', '-', 'a', '\t', '\n', '(', '[', '{', '!', '&', '*', '%', '\u00fc'];

/** Text in any script, sometimes as long as a form or a header may be. */
export const hostileText = (chance: Chance, longest = 5_000): string => {
  switch (chance.below(5)) {
    case 0:
      return chance.pick(repeated).repeat(chance.size(longest));
    case 1:
      return chance
        .times(chance.size(60), () => String.fromCodePoint(codePoint(chance)))
        .join('')
        .toWellFormed();
    case 2:
      return `${chance.pick(known)}${chance.pick(known)}`.slice(0, longest);
    default:
      return chance.pick(known).slice(0, longest);
  }
};

const codePoint = (chance: Chance): number =>
  chance.below(chance.pick([0x7f, 0x7f, 0x2ff, 0xd7ff, 0x10_ffff]));

export const asBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

const forPaths = ['/', '//', '.', '..', '%2e', '%2f', '%5c', '\\', '%00', '%', '?', '#', ';', '~'];
const words = ['a', 'index.html', '%61', '%C3%BC', '%ff', '\xfc', '|', '"', '<', '*', ':', '@'];

/** A path below `start`, without spaces and line breaks, which would end it. */
export const hostilePath = (chance: Chance, start: string): string => {
  const pieces = chance.times(chance.below(7), () =>
    chance.oneIn(8)
      ? chance.pick(words).repeat(chance.size(3000))
      : chance.pick([...forPaths, ...words]),
  );
  return start + pieces.join('');
};
