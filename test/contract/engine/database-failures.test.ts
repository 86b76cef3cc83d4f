import { describe, expect, test } from '@jest/globals';
import { failureCodes, failureOf, Outage } from '../../../src/adapters/kysely/engine/failure.ts';

test.each(
  [...failureCodes].map(([code, { failure, meaning }]) => [code, failure, meaning] as const),
)('the code %s is %s: %s', (code, failure) => {
  const error = /^\d+$/.test(code) ? { errno: Number(code) } : { code };
  expect(failureOf(error)).toBe(failure);
});

test.each([
  ['an extended code of SQLite', { code: 'SQLITE_IOERR_FSYNC' }, 'unavailable'],
  ['another extended code of SQLite', { code: 'SQLITE_BUSY_SNAPSHOT' }, 'unavailable'],
  ['a check that failed', { code: 'SQLITE_CONSTRAINT_CHECK' }, 'other'],
  ['a mistake in a statement', { code: 'ER_PARSE_ERROR', errno: 1064 }, 'other'],
  ['a mistake in ours', { code: 'ERR_INVALID_ARG_TYPE' }, 'other'],
  ['a connection that is closed already', { fatal: true }, 'unavailable'],
  ['no error at all', undefined, 'other'],
])('%s is classified', (_what, error, failure) => {
  expect(failureOf(error)).toBe(failure);
});

describe('an outage', () => {
  const heard: string[] = [];
  let now = 0;
  const outage = new Outage(
    { onAway: () => heard.push('away'), onBack: (ms) => heard.push(`back after ${ms}`) },
    () => now,
  );

  test('is reported once, however many requests fail, and ends after 5 seconds without failures', () => {
    outage.succeeded();
    for (now = 0; now < 3000; now += 1000) outage.failed(new Error('away'));
    now = 4000;
    outage.succeeded();
    outage.failed(new Error('still'));
    now = 9000;
    outage.succeeded();
    outage.succeeded();
    expect(heard).toEqual(['away', 'back after 9000']);
  });
});
