import type { Chance } from './chance.ts';

/** What has broken programs before: each is one value somewhere. */
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

/** Text in any letters; long at times, as a form or a header may carry it. */
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

/** The same as bytes of UTF-8, one character each. */
export const asBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

const forPaths = ['/', '//', '.', '..', '%2e', '%2f', '%5c', '\\', '%00', '%', '?', '#', ';', '~'];
const words = ['a', 'index.html', '%61', '%C3%BC', '%ff', '\xfc', '|', '"', '<', '*', ':', '@'];

/** A path below `start`: never a space or a line break, which would end it. */
export const hostilePath = (chance: Chance, start: string): string => {
  const pieces = chance.times(chance.below(7), () =>
    chance.oneIn(8)
      ? chance.pick(words).repeat(chance.size(3000))
      : chance.pick([...forPaths, ...words]),
  );
  return start + pieces.join('');
};
