import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  isAttempt,
  isSuccess,
  repeat,
  settle as settleAsked,
  withoutAttempt,
  longestFailingMs,
  longestPauseMs,
  waitAfter,
  waits,
  type Attempt,
  type WebhookDelivery,
} from '../../../src/notifications/domain/webhook-delivery.ts';
import { switchOff, type Webhook } from '../../../src/notifications/domain/webhook.ts';
import { later, now } from '../../support/accounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { webhookDecision } from '../../support/webhooks/stored-webhook.ts';

const second = 1000;
const hour = 3600 * second;
const webhook = webhookDecision('acct_1').state;
const delivery: WebhookDelivery = {
  id: 'whd_1',
  webhookId: webhook.id,
  accountId: 'acct_1',
  messageId: 'evt_1',
  type: 'key.banned',
  body: '{}',
  addedAt: now,
  failures: 0,
  progress: { state: 'waiting', nextAt: now },
};
const answered = (status: number, at = now, tookMs = 5): Attempt => ({
  kind: 'answered',
  status,
  beginning: '',
  tookMs,
  at,
});
const timeout = (at = now): Attempt => ({
  kind: 'failed',
  why: 'timeout',
  explanation: 'late',
  tookMs: 10 * second,
  at,
});
const failingSince = (since: Date, failedAt = later(-hour)): Webhook => ({
  ...webhook,
  status: { state: 'on', failingSince: since, failedAt, isSlow: false },
});
const { state: off } = switchOff(webhook, 'by_hand', now);
const settle = (
  current: Parameters<typeof settleAsked>[0],
  attempt: Attempt,
  { address = webhook.address, chance = 0.5 }: Partial<Parameters<typeof settleAsked>[2]> = {},
) => settleAsked(current, attempt, { address, chance });

test('a failed delivery is tried ten times: at once, after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h', () => {
  let current = delivery;
  const seconds: number[] = [];
  let at = now;
  while (current.progress.state === 'waiting') {
    const before = at;
    ({ delivery: current } = settle({ delivery: current, webhook }, answered(500, at, 0)));
    if (current.progress.state !== 'waiting') break;
    at = current.progress.nextAt;
    seconds.push((at.getTime() - before.getTime()) / second);
  }
  expect(current).toMatchObject({ failures: 10, progress: { state: 'given_up' } });
  const least = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  expect(seconds.map((wait, n) => wait >= least[n]! && wait <= 1.1 * least[n]!)).toEqual(
    least.map(() => true),
  );
});

test('chance makes a wait up to a tenth longer, so that deliveries that fail together are not retried together', () => {
  const minutes = (wait: number) => ({ state: 'waiting', nextAt: later(wait * 60 * second) });
  const once = { ...delivery, failures: 1 };
  const after = (chance: number) =>
    settle({ delivery: once, webhook }, answered(500, now, 0), { chance }).delivery.progress;
  expect([0, 0.5, 1].map(after)).toEqual([5, 5.25, 5.5].map(minutes));
});

test('the wait counts from the end of the attempt', () => {
  const { progress } = settle({ delivery, webhook }, timeout()).delivery;
  const { nextAt } = progress as { nextAt: Date };
  expect(nextAt.getTime()).toBeGreaterThanOrEqual(now.getTime() + 15 * second);
});

test.each([200, 201, 204, 299])('an answer %i is a success, which ends all failures', (status) => {
  const settled = settle({ delivery, webhook: failingSince(later(-hour)) }, answered(status));
  expect(settled.delivery.progress).toEqual({ state: 'delivered' });
  expect(settled.webhook?.status).toMatchObject({ failingSince: undefined });
  expect(settled.events).toEqual([]);
});

test.each([100, 301, 302, 307, 308, 400, 404, 429, 500, 503])(
  'an answer %i is a failure, and so are redirects',
  (status) => {
    expect(isSuccess(answered(status))).toBe(false);
    const settled = settle({ delivery, webhook }, answered(status));
    expect(settled.delivery).toMatchObject({ failures: 1, progress: { state: 'waiting' } });
    expect(settled.webhook?.status).toMatchObject({ state: 'on', failingSince: now });
  },
);

test('410 Gone switches the webhook off at once, with an event', () => {
  const settled = settle({ delivery, webhook }, answered(410));
  expect(settled).toMatchObject({
    delivery: { progress: { state: 'cancelled' } },
    webhook: { status: { state: 'off', reason: 'gone', offSince: now } },
    events: [{ type: 'webhook_switched_off', reason: 'gone' }],
  });
});

test.each([answered(410), timeout(), answered(200, now, 2000)])(
  'results of the previous address do not count for the current one: %j',
  (attempt) => {
    const moved = { ...webhook, address: 'https://moved.example/' };
    const settled = settle({ delivery, webhook: moved }, attempt);
    expect(settled.webhook).toBe(moved);
    expect(settled.events).toEqual([]);
    const state = isSuccess(attempt) ? 'delivered' : 'waiting';
    expect(settled.delivery.progress.state).toBe(state);
  },
);

test('a webhook is switched off after exactly five days without a success, and one success prevents that', () => {
  const since = failingSince(later(-longestFailingMs));
  expect(settle({ delivery, webhook: since }, timeout())).toMatchObject({
    webhook: { status: { state: 'off', reason: 'failing' } },
    events: [{ type: 'webhook_switched_off', reason: 'failing' }],
  });
  const almost = failingSince(later(1 - longestFailingMs));
  expect(settle({ delivery, webhook: almost }, timeout()).events).toEqual([]);
  expect(settle({ delivery, webhook: since }, answered(200)).webhook?.status.state).toBe('on');
});

describe('a webhook that is called once a week', () => {
  /** All attempts at one message, which fail until it is abandoned or its webhook is switched off. */
  const failAll = (before: Webhook, week: number): Webhook => {
    let [current, at] = [before, later(week * 7 * 24 * hour)];
    for (let one = delivery; one.progress.state === 'waiting';) {
      const settled = settle({ delivery: one, webhook: current }, answered(500, at, 0));
      [current, one] = [settled.webhook!, settled.delivery];
      if (one.progress.state === 'waiting') at = one.progress.nextAt;
    }
    return current;
  };
  const fail = (before: Webhook, week: number) =>
    settle({ delivery, webhook: before }, answered(503, later(week * 7 * 24 * hour)));

  test('is not switched off by one failure, however many others failed weeks ago', () => {
    const given = failAll(webhook, 0);
    expect(fail(given, 3)).toMatchObject({
      delivery: { failures: 1, progress: { state: 'waiting' } },
      webhook: { status: { state: 'on' } },
      events: [],
    });
    let current = webhook;
    for (let week = 0; week < 52; week += 1) current = fail(current, week).webhook!;
    expect(current.status.state).toBe('on');
  });

  test('is switched off in the second week if all attempts fail, and not if one succeeds in between', () => {
    const given = failAll(webhook, 0);
    expect(given.status.state).toBe('on');
    expect(failAll(given, 1).status).toMatchObject({ state: 'off', reason: 'failing' });
    const { webhook: well } = settle({ delivery, webhook: given }, answered(200, later(6 * hour)));
    expect(failAll(well!, 1).status.state).toBe('on');
  });
});

test('a webhook is switched off by the first failure that completes five days of failures without long pauses', () => {
  const gap = fc.oneof(fc.constant(200), fc.integer({ min: 0, max: 400 }));
  fc.assert(
    fc.property(fc.array(fc.tuple(gap, fc.nat({ max: 30 })), { maxLength: 60 }), (story) => {
      let current = webhook;
      let [elapsed, failedAt, failedFor]: [number, number | undefined, number] = [0, undefined, 0];
      for (const [tenthsOfHours, chance] of story) {
        elapsed += (tenthsOfHours / 10) * hour;
        const status = chance === 0 ? 200 : 500;
        ({ webhook: current = webhook } = settle(
          { delivery, webhook: current },
          answered(status, later(elapsed)),
        ));
        const wait = elapsed - (failedAt ?? elapsed);
        if (status === 500 && wait <= longestPauseMs) failedFor += wait;
        [failedAt, failedFor] = status === 200 ? [undefined, 0] : [elapsed, failedFor];
        const isOver = failedFor >= longestFailingMs;
        expect(current.status.state).toBe(isOver ? 'off' : 'on');
        if (isOver) return;
      }
    }),
  );
});

test('the pause between attempts at one delivery never counts as long', () => {
  expect(waitAfter(waits.length, 1)).toBeLessThan(longestPauseMs);
});

test('a webhook that was switched off or removed meanwhile stays so, and the delivery ends', () => {
  for (const gone of [off, undefined]) {
    const failed = settle({ delivery, webhook: gone }, answered(410));
    expect(failed).toMatchObject({ delivery: { progress: { state: 'cancelled' } }, events: [] });
    expect(failed.webhook).toBe(gone);
    const succeeded = settle({ delivery, webhook: gone }, answered(200));
    expect(succeeded.delivery.progress).toEqual({ state: 'delivered' });
  }
});

test('an answer within a second is fast, whatever its status; the webhook is stored only when something changes', () => {
  expect(settle({ delivery, webhook }, answered(200, now, 1000)).webhook).toBe(webhook);
  const slow = settle({ delivery, webhook }, answered(200, now, 1001)).webhook!;
  expect(slow.status).toMatchObject({ isSlow: true });
  expect(settle({ delivery, webhook: slow }, timeout()).webhook?.status).toMatchObject({
    isSlow: true,
    failingSince: now,
  });
  const quick = settle({ delivery, webhook: slow }, answered(500)).webhook;
  expect(quick?.status).toMatchObject({ isSlow: false });
});

describe('a claim without an attempt', () => {
  test('keeps all attempts for the next one, at once, if we stopped', () => {
    expect(isAttempt({ ...timeout(), why: 'stopped' } as Attempt)).toBe(false);
    expect(withoutAttempt({ delivery: { ...delivery, failures: 3 }, webhook }, later(7))).toEqual({
      delivery: { ...delivery, failures: 3, progress: { state: 'waiting', nextAt: later(7) } },
      webhook,
      events: [],
    });
  });

  test('ends the delivery if the webhook is off or removed', () => {
    for (const gone of [off, undefined]) {
      const { delivery: ended } = withoutAttempt({ delivery, webhook: gone }, now);
      expect(ended.progress).toEqual({ state: 'cancelled' });
    }
  });
});

test('a delivery that is sent again has all attempts available', () => {
  const over: WebhookDelivery = { ...delivery, failures: 10, progress: { state: 'given_up' } };
  expect(repeat(over, webhook, later(9))).toMatchObject({
    delivery: { failures: 0, progress: { state: 'waiting', nextAt: later(9) }, messageId: 'evt_1' },
    begunAt: later(9),
    events: [{ type: 'webhook_repeated', deliveryId: 'whd_1' }],
  });
  expect(() => repeat(over, off, now)).toThrow('Switch it on');
});

test('whatever a receiver does, it is switched off only by 410 or five days of failures, and reported once', () => {
  const random = seededRandom(7);
  for (let life = 0; life < 50; life += 1) {
    let [current, at, lastSuccess]: [Webhook, number, number | undefined] = [webhook, 0, undefined];
    let told = 0;
    for (let step = 0; step < 40; step += 1) {
      at += random() * 20 * hour;
      const status = [200, 500, 500, 500, 500, 500, 500, 500, 410][Math.floor(random() * 9)]!;
      const before = current;
      const settled = settle({ delivery, webhook: current }, answered(status, later(at)));
      current = settled.webhook!;
      told += settled.events.length;
      if (before.status.state === 'off') expect(current).toBe(before);
      else if (status === 410) expect(current.status).toMatchObject({ reason: 'gone' });
      else if (status === 200) [lastSuccess] = [at];
      else if (current.status.state === 'off') {
        expect(at - (lastSuccess ?? 0)).toBeGreaterThanOrEqual(longestFailingMs);
      }
    }
    expect(told).toBe(current.status.state === 'off' ? 1 : 0);
  }
});

test('the waits add up to about three days, less than the five after which a webhook is switched off', () => {
  const sum = waits.reduce((all, wait) => all + wait, 0);
  expect(sum / hour).toBeGreaterThan(75);
  expect(1.1 * sum).toBeLessThan(longestFailingMs);
});
