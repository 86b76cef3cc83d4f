import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findFreePort } from '../support/debian-server.ts';
import { startRedis, type RedisServer } from '../support/redis.ts';
import {
  newHome,
  printedAccount,
  printedKey,
  type Home,
  type Service,
  type Settings,
} from '../support/service-process.ts';
import { until } from '../support/until.ts';

let home: Home;
beforeEach(async () => {
  home = await newHome('mysql');
});
afterEach(() => home.remove());

/** A request that is counted in one UTC minute must not begin in the one before: the clock is the real one. */
const earlyInTheMinute = () =>
  until('enough is left of this minute', () => new Date().getUTCSeconds() < 45, 20_000);

const ask = async ({ origin }: Service, key: string): Promise<Response> => {
  const response = await fetch(`${origin}/v1/pets`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  await response.arrayBuffer();
  return response;
};

const metric = async ({ origin }: Service, name: string): Promise<number> => {
  const text = await (await fetch(`${origin}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
};

const setPlan = async (account: string, plan: string, ...more: string[]): Promise<void> => {
  const args = ['account', 'set-plan', '--account', account, '--plan', plan, ...more];
  const { code } = await home.run(args);
  expect(code).toBe(0);
};

/** Two processes over one storage, an account on the plan free, and its key. */
const twoProcesses = async (settings: Settings = {}) => {
  const first = await home.start(settings);
  const key = printedKey(first);
  await setPlan(printedAccount(first), 'free');
  const second = await home.start({ ...settings, PORT: String(await findFreePort()) });
  const bothKnow = async () => {
    const limits = await Promise.all([first, second].map((one) => ask(one, key)));
    return limits.every(({ headers }) => headers.get('X-RateLimit-Limit') === '60');
  };
  await until('both know the plan', bothKnow);
  return { first, second, key };
};

const left = (response: Response) => Number(response.headers.get('X-RateLimit-Remaining'));

describe('two processes on one Redis', () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.stop());

  test('let exactly as many requests pass at once as the plan allows', async () => {
    const { first, second, key } = await twoProcesses({ REDIS_URL: redis.url });
    await earlyInTheMinute();
    const remaining = left(await ask(first, key));
    const answers = await Promise.all(
      Array.from({ length: remaining + 20 }, (_, i) => ask(i % 2 ? first : second, key)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(remaining);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  test('go on by themselves while Redis is away, from the counts they heard last, and come back', async () => {
    const { first, key } = await twoProcesses({ REDIS_URL: redis.url });
    await earlyInTheMinute();
    const before = left(await ask(first, key));
    await redis.kill();
    const alone = await ask(first, key);
    expect([alone.status, left(alone)]).toEqual([200, before - 1]);
    expect(await metric(first, 'quota_counts_locally')).toBe(1);
    const ready = await fetch(`${first.origin}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { database: 'ok' }]);
    await redis.restart();
    await until('it counts in Redis again', async () => {
      await ask(first, key);
      return (await metric(first, 'quota_counts_locally')) === 0;
    });
    expect((await fetch(`${first.origin}/readyz`)).status).toBe(200);
  });
});

describe('a process that counts by itself', () => {
  test('goes on after kill -9 from the counts that it stored', async () => {
    const service = await home.start();
    const key = printedKey(service);
    const account = printedAccount(service);
    await setPlan(account, 'enterprise', '--per-minute', '100000', '--per-day', '5000');
    await until('the plan is known', async () => left(await ask(service, key)) < 5000);
    for (let i = 0; i < 20; i++) await ask(service, key);
    const before = left(await ask(service, key));
    await until('the counts are stored', async () => (await storedRest(account)) === before);
    await service.end('SIGKILL');
    const again = await home.start();
    expect(left(await ask(again, key))).toBe(before - 1);
    await again.end('SIGTERM');
    expect(await storedRest(account)).toBe(before - 1);
  });

  test('hears within a second that another process revoked a key', async () => {
    const service = await home.start();
    const key = printedKey(service);
    expect((await ask(service, key)).status).toBe(200);
    const { stdout } = await home.run([
      'key',
      'list',
      '--account',
      printedAccount(service),
      '--json',
    ]);
    const [{ id } = { id: '' }] = JSON.parse(stdout) as { id: string }[];
    expect((await home.run(['key', 'revoke', '--key', id])).code).toBe(0);
    await until('the key is refused', async () => (await ask(service, key)).status === 401, 1000);
  });
});

/** What is left of the window with the least left, as an operator is told it. */
const storedRest = async (account: string): Promise<number> => {
  const { stdout } = await home.run(['account', 'usage', '--account', account, '--json']);
  const { quota } = JSON.parse(stdout) as { quota: { speaks: { remaining: number } } };
  return quota.speaks.remaining;
};
