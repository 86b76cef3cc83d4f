import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CounterKeeper, UsageRecorder } from '../../src/adapters/metering/usage-recorder.ts';
import { AccessKey } from '../../src/app/keys.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = new Date('2027-03-01T12:00:10Z');

let api: RunningApi;
beforeEach(async () => {
  api = await startApi('sqlite', { plan: 'free', now: start });
});
afterEach(() => api.close());

const call = async (path = '/v1/pets', key?: string | null) => {
  const { status, body, headers } = await api.send(path, key === undefined ? {} : { key });
  const { code } = (status === 200 ? {} : body) as { code?: string };
  return { status, code, headers };
};

const statuses = async (times: number, path?: string, key?: string | null) => {
  const found: number[] = [];
  for (let i = 0; i < times; i++) found.push((await call(path, key)).status);
  return found;
};

const all = (times: number, status: number) => Array.from({ length: times }, () => status);

describe('the plan free', () => {
  test('admits 60 requests a minute, refuses the 61st with every header correct, and bans after ten more', async () => {
    expect(await statuses(60)).toEqual(all(60, 200));
    const { status, code, headers } = await call();
    expect([status, code]).toEqual([429, 'rate_limit_exceeded']);
    const reset = new Date('2027-03-01T12:01:00Z').getTime() / 1000;
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(reset),
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      ratelimit: '"minute";r=0;t=50',
      'retry-after': '50',
    });
    expect(await statuses(10)).toEqual(all(10, 429));
    const banned = await call();
    expect([banned.code, banned.headers.get('Retry-After')]).toEqual(['key_banned', '300']);
    api.clock.advance(5 * minute - 1);
    expect((await call()).headers.get('Retry-After')).toBe('1');
    api.clock.advance(1);
    expect((await call()).status).toBe(200);
  });

  test('counts OPTIONS with a key like any other request', async () => {
    const { status, headers } = await api.send('/v1/pets/1', { method: 'OPTIONS' });
    expect([status, headers.get('X-RateLimit-Remaining')]).toEqual([204, '59']);
    await statuses(59);
    expect((await api.send('/v1/pets', { method: 'OPTIONS' })).status).toBe(429);
  });

  test('admits exactly 60 of 80 simultaneous requests', async () => {
    const answers = await Promise.all(Array.from({ length: 80 }, () => call()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });
});

describe('callers without a valid key', () => {
  test('share the limits of the plan free for each address, whether they get a 401 or not', async () => {
    expect(await statuses(59, '/v1/pets', null)).toEqual(all(59, 401));
    const { code } = await call('/v1/pets', null);
    expect(code).toBe('rate_limit_exceeded');
    expect((await call('/v1/openapi.json', null)).status).toBe(429);
    expect((await call()).status).toBe(200);
  });

  test('are refused after 20 wrong keys in a minute', async () => {
    expect(await statuses(20, '/v1/pets', 'pets_live_wrong')).toEqual(all(20, 401));
    const { status, headers } = await call('/v1/pets', 'pets_live_wrong');
    expect([status, headers.get('X-RateLimit-Limit')]).toEqual([429, '20']);
    expect((await call('/v1/pets', null)).status).toBe(401);
  });

  test('can send OPTIONS without a key without being counted', async () => {
    for (let i = 0; i < 70; i++) {
      expect((await api.send('/v1/pets', { method: 'OPTIONS', key: null })).status).toBe(204);
    }
    expect((await call('/v1/pets', null)).headers.get('X-RateLimit-Remaining')).toBe('58');
  });

  test('cannot try wrong keys with OPTIONS without being counted', async () => {
    const statusOf = async () =>
      (await api.send('/v1/pets', { method: 'OPTIONS', key: 'pets_live_wrong' })).status;
    for (let i = 0; i < 20; i++) expect(await statusOf()).toBe(204);
    expect(await statusOf()).toBe(429);
  });
});

test('counts and bans survive a restart, and other accounts are not affected', async () => {
  await statuses(72);
  await api.container.get(CounterKeeper).save();
  const again = await startApi('sqlite', { now: start, databaseUrl: api.databaseUrl });
  await again.container.get(CounterKeeper).restore();
  const { body } = await again.send('/v1/pets', { key: api.account.key });
  expect(body).toMatchObject({ code: 'key_banned' });
  await again.container.get(AccessKey).liftBan(api.account.keyId);
  const lifted = await again.send('/v1/pets', { key: api.account.key });
  expect(lifted.body).toMatchObject({ code: 'rate_limit_exceeded' });
  expect((await again.send('/v1/pets')).status).toBe(200);
  await again.close();
});

test('usage is reported by hour, key, operation and outcome, with the keys that call deprecated operations', async () => {
  await statuses(2);
  await call('/v1/pets/1');
  await statuses(58);
  await call('/v1/nothing');
  await api.container.get(UsageRecorder).flush();
  const access = api.container.get(AccessKey);
  const usage = await access.showUsage(api.account.id, new Date(start.getTime() - day));
  const told = usage.hours.map(({ operation, outcome, requests }) => [
    operation,
    outcome,
    requests,
  ]);
  expect(told).toEqual([
    ['getPet', '4xx', 1],
    ['listPets', '2xx', 59],
    ['listPets', 'refused', 1],
    ['none', 'refused', 1],
  ]);
  expect(usage.deprecated).toMatchObject([{ operation: 'getPet', requests: 1 }]);
  const [key] = await access.listApiKeys(api.account.id);
  expect(key?.lastUsedAt).toEqual(start);
});
