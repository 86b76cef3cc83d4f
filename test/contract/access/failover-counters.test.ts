import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { windowIndex } from '../../../src/access/domain/quota.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import {
  FailoverCounters,
  longestAloneMs,
  type SharedCounters,
} from '../../../src/adapters/redis/failover-counters.ts';
import { Unavailable } from '../../../src/kernel/ports.ts';

const now = new Date('2026-03-01T12:00:00Z');
const limits = { perMinute: 5, perDay: 100 };
const away = new Unavailable('Redis', undefined);

class SharedInMemory extends MemoryQuotaCounters implements SharedCounters {
  awaySince: number | undefined;
  /** Called like the listener of a new connection. */
  connect: () => void = () => undefined;

  onConnected(listener: () => void): void {
    this.connect = listener;
  }
}

let shared: SharedInMemory;
let counters: FailoverCounters;
let told: boolean[];
let elapsed: number;
beforeEach(() => {
  [shared, told, elapsed] = [new SharedInMemory(), [], 1_000_000];
  counters = new FailoverCounters(shared, new MemoryQuotaCounters(), {
    onLocal: (local) => told.push(local),
    elapsed: () => elapsed,
  });
});

const take = (striker?: string, at = now) =>
  counters.take({ subject: 'account:a', limits, striker, now: at });
const peek = () => counters.peek('account:a', now);
const goAway = (error: unknown = away) => {
  jest.spyOn(shared, 'take').mockRejectedValue(error);
  jest.spyOn(shared, 'peek').mockRejectedValue(error);
};
const comeBack = () => jest.restoreAllMocks();

test('while the shared counters answer, only they are used', async () => {
  await shared.take({ subject: 'account:a', limits, now });
  expect(await take()).toMatchObject({ counts: { minute: 2, day: 2 } });
  expect(await peek()).toEqual({ minute: 2, day: 2 });
  expect(told).toEqual([]);
});

test('during an outage counting continues from the last shared counts, so no quota is freed', async () => {
  for (let n = 0; n < 3; n++) await shared.take({ subject: 'account:a', limits, now });
  await take();
  goAway();
  expect(await peek()).toEqual({ minute: 4, day: 4 });
  expect(await take()).toMatchObject({ allowed: true, counts: { minute: 5, day: 5 } });
  const refused = { allowed: false, counts: { minute: 5, day: 5 } };
  expect(await take('key_1')).toEqual({ ...refused, strikes: 1 });
  expect(await take('key_1')).toEqual({ ...refused, strikes: 2 });
});

test('a refusal by the shared counters still applies during an outage', async () => {
  for (let n = 0; n < 7; n++) await take();
  goAway();
  expect(await take()).toMatchObject({ allowed: false });
  expect(await take(undefined, new Date(now.getTime() + 60_000))).toMatchObject({
    counts: { minute: 1, day: 6 },
  });
});

test('late counts never lower what was counted locally meanwhile', async () => {
  goAway();
  for (let n = 0; n < 3; n++) await take();
  comeBack();
  jest
    .spyOn(shared, 'take')
    .mockResolvedValue({ allowed: true, strikes: 0, counts: { minute: 1, day: 1 } });
  expect(await take()).toMatchObject({ counts: { minute: 1, day: 1 } });
  goAway();
  expect(await take()).toMatchObject({ counts: { minute: 4, day: 4 } });
});

describe('shared counters after an outage', () => {
  /** Simulates a server that returns empty, or without the last counts. */
  const comeBackEmpty = () => {
    comeBack();
    shared.restore(
      ['account:a', 'account:b'].map((subject) => ({ subject, data: JSON.stringify(empty) })),
    );
  };
  const empty = {
    minute: { index: windowIndex('minute', now), count: 0 },
    day: { index: windowIndex('day', now), count: 0 },
  };
  const other = () => counters.take({ subject: 'account:b', limits, now });

  test('receive, on the first request of each subject, how many requests passed before and during the outage', async () => {
    for (let n = 0; n < 3; n++) await take();
    await other();
    goAway();
    await take();
    comeBackEmpty();
    expect(await take()).toMatchObject({ allowed: true, counts: { minute: 5, day: 5 } });
    expect(await take()).toMatchObject({ allowed: false });
    expect(await other()).toMatchObject({ counts: { minute: 2, day: 2 } });
  });

  test('keep their own counts where these are higher', async () => {
    await take();
    goAway();
    await take();
    comeBack();
    for (let n = 0; n < 3; n++) await shared.take({ subject: 'account:a', limits, now });
    expect(await take()).toMatchObject({ counts: { minute: 5, day: 5 } });
  });

  test('receive local counts only once, so that an operator can reset a count afterwards', async () => {
    await take();
    goAway();
    await take();
    comeBack();
    await take();
    comeBackEmpty();
    expect(await take()).toMatchObject({ counts: { minute: 1, day: 1 } });
  });

  test('count as recovered once they have counted a request, not once they merely answer', async () => {
    await take();
    goAway();
    await take();
    jest.spyOn(shared, 'peek').mockResolvedValue({ minute: 9, day: 9 });
    expect(await peek()).toEqual({ minute: 9, day: 9 });
    elapsed += longestAloneMs + 1;
    await expect(take()).rejects.toBe(away);
    expect(told).toEqual([true]);
  });
});

test('a process counts alone for 60 seconds from the first failure, and then stops', async () => {
  goAway();
  await take();
  elapsed += longestAloneMs;
  expect(longestAloneMs).toBe(60_000);
  expect(await take()).toMatchObject({ allowed: true });
  expect(await peek()).toEqual({ minute: 2, day: 2 });
  elapsed += 1;
  for (const call of [take(), peek(), take()]) await expect(call).rejects.toBe(away);
  expect(told).toEqual([true]);
});

test('the 60 seconds begin with the outage, even if the first request comes later', async () => {
  shared.awaySince = elapsed;
  goAway();
  elapsed += longestAloneMs + 1;
  await expect(take()).rejects.toBe(away);
});

test('a second outage gets 60 seconds, even if nothing was counted since the first', async () => {
  shared.awaySince = elapsed;
  goAway();
  await take();
  elapsed += 10 * longestAloneMs;
  shared.awaySince = elapsed;
  expect(await take()).toMatchObject({ allowed: true });
});

test('counting recovers automatically, and the next outage gets 60 seconds again', async () => {
  goAway();
  await take();
  elapsed += longestAloneMs + 1;
  await expect(take()).rejects.toBe(away);
  comeBack();
  expect(await take()).toMatchObject({ counts: { minute: 2, day: 2 } });
  goAway();
  elapsed += 1;
  expect(await take()).toMatchObject({ allowed: true });
  expect(told).toEqual([true, false, true]);
});

test('outage and recovery are reported once each, however many requests see them', async () => {
  goAway();
  await Promise.all(Array.from({ length: 4 }, () => take()));
  await peek();
  comeBack();
  await Promise.all(Array.from({ length: 4 }, () => take()));
  await peek();
  expect(told).toEqual([true, false]);
});

test('after a reconnect, only the first request of a subject sends its local count', async () => {
  await take();
  const taken = jest.spyOn(shared, 'take');
  shared.connect();
  await take();
  await take();
  expect(taken.mock.calls.map(([{ atLeast }]) => atLeast)).toEqual([
    { minute: 1, day: 1 },
    undefined,
  ]);
});

test('any other failure is passed on and does not count as an outage', async () => {
  const bug = new Error('a bug');
  goAway(bug);
  await expect(take()).rejects.toBe(bug);
  await expect(peek()).rejects.toBe(bug);
  expect(told).toEqual([]);
});

test('counting uses the monotonic clock of the machine by default', async () => {
  const onLocal = () => undefined;
  counters = new FailoverCounters(shared, new MemoryQuotaCounters(), { onLocal });
  goAway();
  expect(await take()).toMatchObject({ allowed: true });
  expect(await take(undefined, new Date(now.getTime() + 86_400_000))).toMatchObject({
    allowed: true,
  });
});
