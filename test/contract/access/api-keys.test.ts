import { beforeEach, expect } from '@jest/globals';
import { keyLimits, revokeApiKey, type ApiKey } from '../../../src/access/domain/api-key.ts';
import { planLimits } from '../../../src/access/domain/quota.ts';
import type { KeyHolder, KeyToStore } from '../../../src/access/ports.ts';
import { keyDecision, later, newAccount, now, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('API keys', (stores) => {
  const { apiKeys } = stores;
  let account: string;
  beforeEach(async () => {
    account = await newAccount(stores);
  });

  const added = async (draft: Partial<ApiKey> = {}, at = later(0)): Promise<KeyToStore> => {
    const decision = keyDecision(account, draft, at);
    await apiKeys.add(decision);
    return decision.state;
  };
  const heldBy = (key: ApiKey): KeyHolder => {
    return { key, plan: 'free', limits: planLimits.free, secretUntil: undefined };
  };
  const revoke = (key: ApiKey) => revokeApiKey(key, later(1));
  const listed = async (id: string) => (await apiKeys.list(account)).find((key) => key.id === id);

  testOnBoth.each([
    { scopes: ['pets:read'] },
    { scopes: ['deploys:write'], projectId: 'proj_1' },
    { scopes: ['orders:read', 'pets:write'] },
    { expiresAt: later(1) },
    { name: '🔑'.repeat(50) },
  ] satisfies Partial<ApiKey>[])('a key with %j is read back as it was issued', async (draft) => {
    const { key, secretHash } = await added(draft);
    expect(key).toMatchObject(draft);
    expect(await listed(key.id)).toEqual(key);
    expect(await apiKeys.findBySecretHash(secretHash)).toEqual(heldBy(key));
  });

  testOnBoth("an account's list holds its own keys only, oldest first", async () => {
    const first = await apiKeys.list(account);
    const { key: younger } = await added({}, later(2000));
    const { key: older } = await added({}, later(1000));
    expect(await apiKeys.list(account)).toEqual([...first, older, younger]);
    expect(await apiKeys.list(await newAccount(stores))).not.toContainEqual(older);
    expect(await apiKeys.list('acct_nobody')).toEqual([]);
  });

  test('keys and their events are stored together', async () => {
    const decision = keyDecision(account);
    await apiKeys.add(decision);
    await apiKeys.change(decision.state.key.id, revoke);
    const common = { accountId: account, keyId: decision.state.key.id };
    expect(await takeEvents(stores)).toEqual([
      { type: 'api_key_issued', ...common, occurredAt: now },
      { type: 'api_key_revoked', ...common, occurredAt: later(1) },
    ]);
  });

  test('a key for an account that does not exist is not issued', async () => {
    const issuing = apiKeys.add(keyDecision('acct_nobody'));
    await expect(issuing).rejects.toHaveProperty('code', 'account_not_found');
    expect(await apiKeys.list('acct_nobody')).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('a key that does not exist is not changed', async () => {
    const { key } = await added();
    for (const unknown of ['key_nobody', key.id.toUpperCase()]) {
      const change = apiKeys.change(unknown, refuse);
      await expect(change).rejects.toHaveProperty('code', 'api_key_not_found');
    }
  });

  test('a change that fails stores nothing', async () => {
    const { key } = await added();
    await takeEvents(stores);
    await expect(apiKeys.change(key.id, refuse)).rejects.toBe(refusal);
    expect(await listed(key.id)).toEqual(key);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth('twenty concurrent requests revoke a key once', async () => {
    const { key } = await added();
    await takeEvents(stores);
    const processes = [apiKeys, stores.secondProcess.apiKeys];
    const { won } = await race(20, (n) =>
      (processes[n % 2] ?? apiKeys).change(key.id, (its) => revokeApiKey(its, later(n))),
    );
    const times = new Set(won.map(({ revokedAt }) => revokedAt?.getTime()));
    expect(times.size).toBe(1);
    expect(won).toHaveLength(20);
    expect(await takeEvents(stores)).toHaveLength(1);
  });

  const many = (count: number, draft: Partial<ApiKey>) =>
    stores.together(async () => {
      for (let n = 0; n < count; n++) await apiKeys.add(keyDecision(account, draft, later(n)));
    });

  testOnBoth(
    'the oldest keys that no longer work are deleted, so that the list stays limited',
    async () => {
      const [working] = await apiKeys.list(account);
      await many(keyLimits.kept - 2, { expiresAt: later(10_000) });
      const { key: last } = await added({ expiresAt: later(20_000) }, later(5000));
      const { key: next, secretHash } = await added({}, later(10_000));
      const ids = (await apiKeys.list(account)).map(({ id }) => id);
      expect(ids).toHaveLength(keyLimits.kept);
      expect([ids[0], ids.at(-2), ids.at(-1)]).toEqual([working!.id, last.id, next.id]);
      expect(await apiKeys.findBySecretHash(secretHash)).toEqual(heldBy(next));
    },
  );

  testOnBoth(
    'when an account has more keys than a list shows, keys that can be revoked are listed first',
    async () => {
      const [first] = await apiKeys.list(account);
      await many(keyLimits.kept, {});
      await apiKeys.change(first!.id, revoke);
      const all = await apiKeys.list(account);
      expect(all).toHaveLength(keyLimits.kept);
      expect(all.filter(({ revokedAt }) => revokedAt)).toEqual([]);
    },
  );

  testOnBoth(
    'when twenty requests add a key at once, each gets a different count of working keys',
    async () => {
      await added({ expiresAt: later(1) }, later(0));
      const revoked = await added();
      await apiKeys.change(revoked.key.id, revoke);
      const processes = [apiKeys, stores.secondProcess.apiKeys];
      const told: number[] = [];
      const full = new Error('full');
      const { won, lost } = await race(20, async (n) => {
        let inUse = 0;
        await processes[n % 2]!.add(keyDecision(account, {}, later(5)), (current) => {
          inUse = current;
          if (current >= 4) throw full;
        });
        told.push(inUse);
      });
      expect([told.sort(), won.length, lost.length]).toEqual([[1, 2, 3], 3, 17]);
    },
  );
});
