import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { planLimits, judge } from '../../src/access/domain/quota.ts';
import { badKeyLimits, type Banned } from '../../src/access/use-cases/callers.ts';
import { answerTo } from '../../src/adapters/http/error-table.ts';
import { overLimit, rateLimitHeaders } from '../../src/adapters/http/rate-limits.ts';

const now = new Date('2026-03-01T12:34:29.500Z');
const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
const limits = planLimits.free;
const verdict = (minute: number, day: number, allowed = true) =>
  judge(limits, { minute, day }, allowed, now);
const banned: Banned = {
  kind: 'banned',
  ban: { since: now, until: at(300_000), minutes: 5 },
  limits,
};
const seconds = (text: string) => String(Date.parse(text) / 1000);

describe('the headers of an answer', () => {
  test('describe the minute in Unix seconds and in the fields of the IETF draft', () => {
    expect(rateLimitHeaders(verdict(48, 48), now)).toEqual({
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '12',
      'X-RateLimit-Reset': seconds('2026-03-01T12:35:00Z'),
      'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      RateLimit: '"minute";r=12;t=31',
    });
  });

  test('describe the day when it has less left', () => {
    expect(rateLimitHeaders(verdict(1, 999), now)).toMatchObject({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '1',
      'X-RateLimit-Reset': seconds('2026-03-02T00:00:00Z'),
      RateLimit: '"day";r=1;t=41131',
    });
  });

  test('say for a banned key that nothing is left until the ban ends, rounded up', () => {
    expect(rateLimitHeaders(banned, at(1))).toEqual({
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': seconds('2026-03-01T12:39:30Z'),
      'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      RateLimit: '"minute";r=0;t=300',
    });
  });

  test('omit a window without a limit', () => {
    const refused = judge(badKeyLimits, { minute: 20, day: 20 }, false, now);
    expect(rateLimitHeaders(refused, now)).toMatchObject({
      'X-RateLimit-Limit': '20',
      'RateLimit-Policy': '"minute";q=20;w=60',
      RateLimit: '"minute";r=0;t=31',
    });
  });

  test('remain short whole numbers, whenever they are sent', () => {
    const count = fc.integer({ min: 0, max: 2000 });
    const any = fc.record({ minute: count, day: count, late: fc.integer(), ban: fc.boolean() });
    fc.assert(
      fc.property(any, ({ minute, day, late, ban }) => {
        const headers = rateLimitHeaders(ban ? banned : verdict(minute, day), at(late));
        expect(headers['RateLimit']).toMatch(/^"(minute|day)";r=\d{1,15};t=[1-9]\d{0,14}$/);
        for (const name of ['Limit', 'Remaining', 'Reset']) {
          expect(headers[`X-RateLimit-${name}`]).toMatch(/^\d{1,15}$/);
        }
      }),
    );
  });
});

describe('a request', () => {
  test('within its limits is not refused, even the last one', () => {
    for (const allowed of [verdict(1, 1), verdict(60, 60), verdict(60, 1000)]) {
      expect(overLimit(allowed, now)).toBeUndefined();
    }
  });

  test.each([
    ['rate_limit_exceeded', verdict(60, 500, false), '31', /60 requests a minute/],
    ['daily_quota_exceeded', verdict(3, 1000, false), '41131', /1000 requests a day/],
    ['daily_quota_exceeded', verdict(60, 1000, false), '41131', /1000 requests a day/],
    ['key_banned', banned, '300', /banned until 2026-03-01T12:39:29.500Z/],
  ])(
    'over its limits is answered 429 %s and with the time to retry',
    (code, refused, wait, words) => {
      const answer = answerTo(overLimit(refused, now));
      expect(answer).toMatchObject({
        status: 429,
        headers: { 'Retry-After': wait },
        body: { code, message: expect.stringMatching(words), status: 429 },
      });
    },
  );

  test('has to wait at least a whole second, even when the clock jumped ahead', () => {
    for (const late of [30_499, 30_500, 31_000, 300_000, 60 * 86_400_000]) {
      const waits = [verdict(60, 500, false), banned].map(
        (refused) => overLimit(refused, at(late))?.headers['Retry-After'],
      );
      expect(waits).toEqual(['1', late < 300_000 ? expect.stringMatching(/^2[67]\d$/) : '1']);
    }
  });
});
