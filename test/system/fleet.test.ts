import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { findFreePort } from '../support/servers/debian-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import {
  ask,
  commandOf,
  left,
  openAccount,
  windowEnd,
  type NewAccount,
} from '../support/service/several-processes.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

let home: Home;
let services: readonly Service[];
const database = '7';
beforeAll(async () => {
  home = await newHome(await migratedDatabase('mysql'));
  // Long enough for a busy machine to connect to Redis.
  const address = `${process.env['TEST_REDIS_URL'] ?? ''}/${database}?commandTimeout=60000`;
  const start = async () => home.start({ REDIS_URL: address, PORT: String(await findFreePort()) });
  services = await Promise.all([start(), start()]);
  for (const { origin } of services)
    await until('it is ready', async () => (await fetch(`${origin}/readyz`)).ok);
});
afterAll(() => home.remove());

test('processes on one Redis let exactly as many concurrent requests pass as the plan allows', async () => {
  const seen = await until('all of it happens on one day', async () => {
    const account = await openAccount(home, 60);
    const first = await Promise.all(services.map((one) => ask(one, account)));
    // Ten refusals: further ones would state the end of a ban.
    const rest = await Promise.all(
      services.flatMap((one) => Array.from({ length: 34 }, () => ask(one, account))),
    );
    const days = new Set([...first, ...rest].map(windowEnd));
    return days.size === 1 && { first, rest };
  });
  expect(seen.first.map(left).sort()).toEqual([58, 59]);
  expect(seen.rest.filter(({ status }) => status === 200)).toHaveLength(58);
  expect(seen.rest.filter(({ status }) => status === 429)).toHaveLength(10);
});

test('each process is notified of what the others store', async () => {
  const redis = new Redis(process.env['TEST_REDIS_URL'] ?? '');
  const channel = `animal-store:stored:${database}`;
  await until('both listen', async () => (await redis.pubsub('NUMSUB', channel))[1] === 2);
  redis.disconnect();
});

test('a process that counts alone continues from its stored counts after kill -9', async () => {
  const seen = await until('all of it happens on one day', async () => {
    const account = await openAccount(home, 5000);
    const service = await home.start();
    for (let i = 0; i < 20; i++) await ask(service, account);
    const before = await ask(service, account);
    await until('the counts are stored', async () => {
      const { remaining, end } = await storedQuota(account);
      return remaining === left(before) || end > windowEnd(before);
    });
    await service.end('SIGKILL');
    const again = await home.start();
    const after = await ask(again, account);
    await again.end('SIGTERM');
    const stored = await storedQuota(account);
    const days = new Set([windowEnd(before), windowEnd(after), stored.end]);
    return days.size === 1 && { before: left(before), after: left(after), stored };
  });
  expect(seen.before).toBeLessThan(5000);
  expect(seen.after).toBe(seen.before - 1);
  expect(seen.stored.remaining).toBe(seen.after);
});

/** The window with the least left, as the operator's command reports it. */
const storedQuota = async ({ account }: NewAccount) => {
  const { quota } = await commandOf<{
    quota: { speaks: { remaining: number; resetAt: string } };
  }>(home, `account usage --account ${account.id}`);
  const { remaining, resetAt } = quota.speaks;
  return { remaining, end: Date.parse(resetAt) / 1000 };
};
