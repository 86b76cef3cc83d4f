import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RedisQuotaCounters } from '../../src/adapters/redis/redis-quota-counters.ts';
import { RedisSignals } from '../../src/adapters/redis/redis-signals.ts';
import { checkRedis } from '../../src/app/doctor/check-servers.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { withoutUser } from '../../src/app/settings/redaction.ts';
import { startRedisFleet, type RedisFleet } from '../support/servers/sentinels.ts';
import { until } from '../support/until.ts';

let fleet: RedisFleet;
beforeAll(async () => {
  fleet = await startRedisFleet();
});
afterAll(() => fleet.stop());

const now = new Date('2026-03-01T12:00:00Z');
const take = { subject: 'account:a', limits: { perMinute: 100, perDay: 100 }, now };
const ignore = () => undefined;

const findings = (url: string) => checkRedis(loadConfig({ REDIS_URL: url }));

test('doctor finds the primary and asks each sentinel which one it is', async () => {
  const { port } = await fleet.primary();
  expect(await findings(fleet.url)).toEqual([
    { state: 'ok', seen: `${withoutUser(fleet.url)} answers.` },
    ...fleet.sentinels.map((sentinel) => ({
      state: 'ok',
      seen: `The sentinel 127.0.0.1:${sentinel.port} says that 127.0.0.1:${port} is the primary.`,
    })),
  ]);
});

test('doctor says when no sentinel knows the configured name', async () => {
  const [server, ...sentinels] = await findings(fleet.url.replace(/[^/]+$/, 'nobody'));
  expect(server).toMatchObject({ state: 'failed' });
  expect(sentinels).toHaveLength(3);
  for (const { state, seen } of sentinels) {
    expect([state, seen]).toEqual(['warning', expect.stringContaining('does not know nobody')]);
  }
});

test('after the primary is lost, requests are counted and signals arrive at the new one', async () => {
  const heard: string[] = [];
  const options = { onProblem: ignore, onHeard: (ids: readonly string[]) => heard.push(...ids) };
  const [here, there] = [randomUUID(), randomUUID()].map(
    (self) => new RedisSignals(fleet.url, { ...options, self }),
  );
  const counters = new RedisQuotaCounters(fleet.url, ignore);
  const isHeard = (account: string) => () => {
    here!.tell([account]);
    return heard.includes(account);
  };
  there!.listen();
  await until('a signal is heard', isHeard('acc_1'));
  await until('Redis counts', () => counters.take(take).catch(ignore));
  const old = await fleet.primary();
  await old.kill();
  const heir = await fleet.isReplaced(old);
  expect(heir.port).not.toBe(old.port);
  await until('a signal is heard again', isHeard('acc_2'));
  const { allowed } = await until('Redis counts again', () => counters.take(take).catch(ignore));
  expect(allowed).toBe(true);
  counters.close();
  await Promise.all([here!.close(), there!.close()]);
});

test('a frozen or missing sentinel delays no request, and doctor names the missing one', async () => {
  const [gone, frozen] = fleet.sentinels;
  await gone!.kill();
  await frozen!.freeze();
  const counters = new RedisQuotaCounters(fleet.url, ignore);
  await until('Redis counts', () => counters.take(take).catch(ignore));
  counters.close();
  frozen!.thaw();
  const [server, missing] = await findings(fleet.url);
  expect(server).toMatchObject({ state: 'ok' });
  expect(missing).toMatchObject({ state: 'warning', advice: 'Start it, or correct REDIS_URL.' });
});
