import { expect, test } from '@jest/globals';
import { terminalJson, terminalText } from '../../../src/app/commands/run-command.ts';

const hostile = ['\u001b[31m', '\u009b31m', '\u007f', '\r', '\u202e', '\u2066', '\0'];

test('no control sequence of a terminal is printed, and line breaks stay', () => {
  for (const text of hostile) {
    expect(terminalText(`Zoë\n${text}`)).toBe(`Zoë\n${text.replace(/^./su, '\u{fffd}')}`);
  }
});

test('JSON keeps its values, and contains no control sequence of a terminal', () => {
  const json = terminalJson(JSON.stringify(hostile));
  expect(JSON.parse(json)).toEqual(hostile);
  expect(json).toMatch(/^[\x20-\x7e]+$/);
});
