import { beforeEach, expect } from '@jest/globals';
import { changePlan } from '../../../src/access/domain/account.ts';
import {
  banApiKey,
  liftBan,
  revokeApiKey,
  type ApiKey,
} from '../../../src/access/domain/api-key.ts';
import { planLimits, type Plan } from '../../../src/access/domain/quota.ts';
import type { KeyHolder } from '../../../src/access/ports.ts';
import { keyDecision, later, newAccount, now } from '../../support/accounts.ts';
import { scribble } from '../../support/scribble.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('holders of API keys', (stores) => {
  const { apiKeys } = stores;
  let account: string;
  let key: ApiKey;
  let secretHash: string;
  beforeEach(async () => {
    account = await newAccount(stores);
    const decision = keyDecision(account, { expiresAt: later(1) });
    await apiKeys.add(decision);
    ({ key, secretHash } = structuredClone(decision.state));
  });

  const heldBy = (its: ApiKey, plan: Plan = 'free'): KeyHolder => {
    return { key: its, plan, limits: { ...planLimits[plan] }, secretUntil: undefined };
  };
  const holder = (from = apiKeys) => from.findBySecretHash(secretHash);
  const listed = async () => (await apiKeys.list(account)).find(({ id }) => id === key.id);

  test('a key is found by the hash of its secret only', async () => {
    expect(await holder()).toEqual(heldBy(key));
    for (const other of [secretHash.toUpperCase(), key.id, '']) {
      expect(await apiKeys.findBySecretHash(other)).toBeUndefined();
    }
  });

  test('a key shows the current plan and limits of its account', async () => {
    expect(await holder()).toEqual(heldBy(key));
    await stores.accounts.change(account, (its) => changePlan(its, { plan: 'business' }, now));
    expect(await holder()).toEqual(heldBy(key, 'business'));
    const limits = { perMinute: 7, perDay: 77 };
    await stores.accounts.change(account, (its) =>
      changePlan(its, { plan: 'enterprise', requests: limits }, now),
    );
    expect(await holder()).toEqual({ ...heldBy(key, 'enterprise'), limits });
    await stores.accounts.change(account, (its) => changePlan(its, { plan: 'enterprise' }, now));
    expect(await holder()).toEqual(heldBy(key, 'enterprise'));
  });

  test('a revoked key is still found, with the time of its revocation, in every process', async () => {
    const revoked = { ...key, revokedAt: later(1) };
    expect(await holder()).toEqual(heldBy(key));
    expect(await apiKeys.change(key.id, (its) => revokeApiKey(its, later(1)))).toEqual(revoked);
    expect(await listed()).toEqual(revoked);
    for (const process of [stores, stores.secondProcess]) {
      expect(await holder(process.apiKeys)).toEqual(heldBy(revoked));
    }
  });

  testOnBoth('a ban and its end are read back unchanged in every process', async () => {
    expect(await holder()).toEqual(heldBy(key));
    const banned = await apiKeys.change(key.id, (its) => banApiKey(its, later(1)));
    expect(banned.ban).toEqual({ since: later(1), until: later(300_001), minutes: 5 });
    expect(await listed()).toEqual(banned);
    for (const process of [stores, stores.secondProcess]) {
      expect(await holder(process.apiKeys)).toEqual(heldBy(banned));
    }
    const lifted = await apiKeys.change(key.id, (its) => liftBan(its, later(2)));
    expect(lifted.ban).toEqual({ since: later(1), until: later(2), minutes: 5 });
    expect(await holder()).toEqual(heldBy(lifted));
    const again = await apiKeys.change(key.id, (its) => banApiKey(its, later(3)));
    expect(again.ban).toMatchObject({ since: later(3), minutes: 10 });
    expect(await holder()).toEqual(heldBy(again));
  });

  test('changing a record that was read does not change the stored one', async () => {
    scribble(await holder());
    expect(await holder()).toEqual(heldBy(key));
    const changed = await apiKeys.change(key.id, (its) => ({ state: its, events: [] }));
    expect(changed).toEqual(key);
    scribble(changed);
    expect(await holder()).toEqual(heldBy(key));
  });
});
