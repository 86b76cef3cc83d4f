import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AccessKey, CatalogueKey } from '../../src/app/keys.ts';
import { usualKinds } from '../support/servers/databases.ts';
import { walk } from '../support/dashboard/dashboard-page.ts';
import { startApi, type RunningApi, type TestAccount } from '../support/http/running-api.ts';
import { AuditLog } from '../../src/access/ports.ts';
import type { Plan } from '../../src/access/domain/quota.ts';
import { race } from '../support/race.ts';

interface Row {
  readonly id: bigint;
  readonly name: string;
}

describe.each(usualKinds)('two accounts on %s', (kind) => {
  let api: RunningApi;
  let ours: TestAccount;
  let theirs: TestAccount;
  const ourIds: bigint[] = [];
  const theirIds: bigint[] = [];
  beforeAll(async () => {
    api = await startApi(kind);
    ours = api.account;
    theirs = await api.newAccount();
    for (let at = 0; at < 6; at++) {
      ourIds.push(await api.add(`Ours ${at}`, 'available', ours.key));
      theirIds.push(await api.add(`Theirs ${at}`, 'available', theirs.key));
    }
  });
  afterAll(() => api.close());

  test.each(['/v1/pets?limit=2', '/v1/pets?limit=2&status=available', '/v1/pets?limit=100'])(
    'see only their own animals in %s',
    async (path) => {
      const [mine, other] = [await walk<Row>(api, path), await walk<Row>(api, path, theirs.key)];
      expect(mine.flat().map((row) => row.id)).toEqual(ourIds);
      expect(other.flat().map((row) => row.id)).toEqual(theirIds);
    },
  );

  test("get the same answer for each other's animals as for a missing one", async () => {
    const [foreign] = theirIds;
    const answer = await api.send(`/v1/pets/${foreign ?? 0n}`);
    const nowhere = await api.send('/v1/pets/999999999');
    expect(answer.status).toBe(404);
    expect(answer.text.replace(String(foreign), 'N')).toBe(nowhere.text.replace('999999999', 'N'));
    expect((await api.send(`/v1/pets/${foreign ?? 0n}`, { key: theirs.key })).status).toBe(200);
  });

  test('see only their own orders', async () => {
    const catalogue = api.container.get(CatalogueKey);
    const [pet = 0n] = theirIds;
    await catalogue.placeOrder(theirs.id, pet);
    expect((await api.send('/v1/store/orders')).body).toEqual([]);
    const { body } = await api.send('/v1/store/orders', { key: theirs.key });
    expect(body).toMatchObject([{ petId: pet }]);
  });

  test("cannot sell, reserve or release each other's animals", async () => {
    const catalogue = api.container.get(CatalogueKey);
    const pet = theirIds[1] ?? 0n;
    const attempts = [
      catalogue.placeOrder(ours.id, pet),
      catalogue.changePet(ours.id, pet, 'reserve'),
      catalogue.changePet(ours.id, pet, 'release'),
    ];
    for (const attempt of attempts) {
      await expect(attempt).rejects.toMatchObject({ code: 'pet_not_found' });
    }
    const { body } = await api.send(`/v1/pets/${pet}`, { key: theirs.key });
    expect(body).toMatchObject({ status: 'available' });
  });
});

describe.each(usualKinds)('the actor of an event, on %s,', (kind) => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi(kind);
  });
  afterAll(() => api.close());

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
