import { describe, expect, test } from '@jest/globals';
import { isOpen, secretLength, startSession } from '../../../src/access/domain/session.ts';

const start = new Date('2026-03-01T10:00:00Z');
const hour = 3_600_000;
const after = (milliseconds: number) => new Date(start.getTime() + milliseconds);
const draft = { id: 'sess_1', personId: 'pers_1', way: 'password', browser: 'Firefox' } as const;
const session = startSession(draft, start);

describe('a session', () => {
  test('lasts twelve hours from its start', () => {
    expect(session).toEqual({
      ...draft,
      others: [],
      resetsPassword: false,
      startedAt: start,
      endsAt: after(12 * hour),
    });
  });

  test.each([
    ['at its start', 0, true],
    ['until its last moment', 12 * hour - 1, true],
    ['not from its end on', 12 * hour, false],
    ['not a year later', 8760 * hour, false],
    ['while the clock is set back a little', -12 * hour + 1, true],
    ['not while the clock is set back by twelve hours', -12 * hour, false],
    ['not while the clock is set back by a year', -8760 * hour, false],
  ])('is open %s', (_, milliseconds, expected) => {
    expect(isOpen(session, after(milliseconds))).toBe(expected);
  });

  test.each([
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), 'x'.repeat(200)],
    ['', ''],
    [`${'x'.repeat(199)}🦜`, `${'x'.repeat(199)}\ufffd`],
    ['half a \ud83e bird', 'half a \ufffd bird'],
  ])(
    'keeps at most 200 characters of the browser name, none of them split: %j',
    (browser, kept) => {
      expect(startSession({ ...draft, browser }, start).browser).toBe(kept);
    },
  );
});

test('a secret holds at least 256 bits', () => {
  expect(secretLength * Math.log2(62)).toBeGreaterThanOrEqual(256);
});
