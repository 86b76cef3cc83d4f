import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { QuotaCounters } from '../../../src/access/ports.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import {
  counterKinds,
  newSubject,
  openCounters,
  openRedisCounters,
} from '../../support/access/counters.ts';
import { quotaCountersContract } from './quota-counters.contract.ts';
import { strikesContract } from './strikes.contract.ts';

describe.each(counterKinds)('counters in %s', (kind) => {
  quotaCountersContract(() => openCounters(kind));
});

describe.each(counterKinds)('strikes in %s', (kind) => {
  strikesContract(() => openCounters(kind));
});

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
const jump = fc.constantFrom(
  0,
  0,
  0,
  second,
  minute,
  -minute,
  hour,
  -hour,
  day,
  60 * day,
  -60 * day,
);
const step = fc.record({
  jump,
  kind: fc.constantFrom('take', 'take', 'take', 'peek'),
  subject: fc.constantFrom('a', 'b'),
  striker: fc.constantFrom('key 1', 'key 2', undefined),
  limits: fc.record({
    perMinute: fc.integer({ min: 1, max: 3 }),
    perDay: fc.integer({ min: 1, max: 6 }),
  }),
  atLeast: fc.option(
    fc.record({ minute: fc.integer({ min: 0, max: 3 }), day: fc.integer({ min: 0, max: 6 }) }),
    { nil: undefined, freq: 4 },
  ),
});
type Step = ReturnType<typeof step.generate>['value'];

/** The answers of counters to each step, with a clock that starts at noon. */
const answersOf = async (counters: QuotaCounters, steps: readonly Step[], prefix: string) => {
  let now = Date.UTC(2026, 2, 1, 12);
  const answers = [];
  for (const { jump, kind, limits, atLeast, ...names } of steps) {
    now += jump;
    const subject = `${prefix} ${names.subject}`;
    const striker = names.striker === undefined ? undefined : `${prefix} ${names.striker}`;
    const take = { subject, striker, limits, atLeast, now: new Date(now) };
    answers.push(
      kind === 'take' ? await counters.take(take) : await counters.peek(subject, take.now),
    );
  }
  return answers;
};

describe('the Redis script', () => {
  let redis: Awaited<ReturnType<typeof openRedisCounters>>;
  beforeAll(async () => {
    redis = await openRedisCounters();
  });
  afterAll(() => redis.close());

  test('gives the same answers as memory for any sequence of requests, reads and clock jumps', async () => {
    const sequences = fc.array(step, { minLength: 5, maxLength: 40, size: 'max' });
    await fc.assert(
      fc.asyncProperty(sequences, async (steps) => {
        const prefix = newSubject();
        const expected = await answersOf(new MemoryQuotaCounters(), steps, prefix);
        expect(await answersOf(redis, steps, prefix)).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });
});
