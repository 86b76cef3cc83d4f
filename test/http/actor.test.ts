import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AuditLog } from '../../src/access/ports.ts';
import type { Plan } from '../../src/access/domain/plan.ts';
import { AccessKey } from '../../src/app/keys.ts';
import { databaseKinds } from '../support/servers/databases.ts';
import { race } from '../support/race.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';

describe.each(databaseKinds)('the actor of an event, on %s,', (kind) => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi(kind);
  });
  afterAll(() => api.close());

  /** Who caused the events of a type. */
  const told = async (type: string): Promise<readonly string[]> => {
    const entries = await api.container.get(AuditLog).list(api.account.id, 1000, { kinds: [type] });
    return entries.map(({ actor }) => actor).sort();
  };
  const headers = (n: number) => (n % 2 === 0 ? { 'Idempotency-Key': `actor-${n}` } : {});

  test('is the key of the request, whatever other requests do at the same time', async () => {
    const wishes = Array.from({ length: 4 }, () => api.newKey({}));
    const keys = await Promise.all(wishes);
    const { won } = await race(20, async (n) => {
      const body = `{"name":"Rex ${n}","categoryId":1}`;
      const key = keys[n % 4]!.secret;
      return (await api.send('/v1/pets', { method: 'POST', key, body, headers: headers(n) }))
        .status;
    });
    expect(won).toEqual(Array(20).fill(201));
    const each = keys.flatMap(({ id }) => Array<string>(5).fill(`key:${id}`));
    expect(await told('pet_added')).toEqual(each.sort());
  });

  test('is the service for automatic work', async () => {
    const access = api.container.get(AccessKey);
    const plan: Plan = 'enterprise';
    await access.setPlan(api.account.id, plan, { requests: { perMinute: 1, perDay: 100 } });
    const key = (await api.newKey({})).secret;
    for (let n = 0; n < 12; n++) await api.send('/v1/pets', { key });
    await access.setPlan(api.account.id, plan);
    expect(await told('api_key_banned')).toEqual(['service']);
    expect(new Set(await told('account_opened'))).toEqual(new Set(['service']));
  });
});
