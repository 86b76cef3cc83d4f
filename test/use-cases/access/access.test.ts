import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import { defaultScopes } from '../../../src/access/domain/api-key.ts';
import { planLimits } from '../../../src/access/domain/quota.ts';
import type { ApiKeys, KeyMaterial } from '../../../src/access/ports.ts';
import { authenticate } from '../../../src/access/use-cases/callers.ts';
import type { IssuedKey } from '../../../src/access/use-cases/api-keys.ts';
import type { SettableClock } from '../../support/settable-clock.ts';
import type { DomainEvent } from '../../../src/kernel/decision.ts';
import { accessLabs } from '../../support/access/access-lab.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

const accessLab = accessLabs();
const now = new Date('2026-03-01T10:00:00Z');
const hour = 3_600_000;

let face: Access;
let clock: SettableClock;
let happened: () => Promise<readonly DomainEvent[]>;
let accountId: string;
let first: IssuedKey;
beforeEach(async () => {
  ({ face, clock, happened } = await accessLab(now));
  const draft = { name: 'Zoo', email: 'owner@zoo.example', plan: 'pro' } as const;
  const opened = await face.createAccount(draft);
  [accountId, first] = [opened.account.id, opened.key];
});

describe('an account', () => {
  test('is opened with a first key of the usual scopes that works at once, and its owner can sign in', async () => {
    const limits = planLimits.pro;
    const granted = { scopes: defaultScopes, projectId: undefined, ban: undefined };
    const caller = { accountId, keyId: first.id, plan: 'pro', limits, ...granted };
    expect(await face.authenticate(first.secret)).toEqual(caller);
    const owner = { accountId, email: 'owner@zoo.example', passwordHash: undefined };
    expect(await face.listPeople(accountId)).toMatchObject([{ ...owner, createdAt: now }]);
    const types = ['account_opened', 'api_key_issued', 'person_invited'];
    expect((await happened()).map(({ type }) => type)).toEqual(types);
  });

  test('changes its plan for all its keys, from the next call on', async () => {
    await face.setPlan(accountId, 'business');
    const business = { plan: 'business', limits: planLimits.business };
    expect(await face.authenticate(first.secret)).toMatchObject(business);
    await face.setPlan(accountId, 'enterprise', { requests: { perMinute: 7, perDay: 77 } });
    const own = { plan: 'enterprise', limits: { perMinute: 7, perDay: 77 } };
    expect(await face.authenticate(first.secret)).toMatchObject(own);
    const unknown = face.setPlan('acct_nobody', 'free');
    await expect(unknown).rejects.toHaveProperty('code', 'account_not_found');
  });

  test('can be opened for an address that already has one, without changing that one', async () => {
    await face.invite(accountId, 'keeper@zoo.example');
    const people = await face.listPeople(accountId);
    for (const email of ['Keeper@Zoo.example', ' OWNER@zoo.example']) {
      const { account } = await face.createAccount({ name: 'Birds', email, plan: 'free' });
      expect(await face.listPeople(account.id)).toMatchObject([{ email: account.email }]);
      const link = await face.signInLinkFor(email, account.id);
      expect(link.person.accountId).toBe(account.id);
    }
    expect(await face.listPeople(accountId)).toEqual(people);
    expect(await face.listAccounts()).toHaveLength(3);
  });
});

describe('authentication', () => {
  test('returns the permissions of the key', async () => {
    const key = await face.createApiKey({ accountId, name: 'Till', scopes: ['pets:read'] });
    expect(await face.authenticate(key.secret)).toMatchObject({ scopes: ['pets:read'] });
    expect(key.secret).not.toBe(first.secret);
  });

  test('refuses a mistyped key without a lookup', async () => {
    const ports = {
      apiKeys: mustNotBeUsed<ApiKeys>('apiKeys'),
      keyMaterial: mustNotBeUsed<KeyMaterial>('keyMaterial'),
      clock,
    };
    const mistyped = first.secret.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    for (const secret of [mistyped, '', 'pets_live_', first.secret.toUpperCase()]) {
      const refusal = authenticate(ports)(secret);
      await expect(refusal).rejects.toHaveProperty('code', 'invalid_api_key');
    }
    const wellFormed = authenticate(ports)(first.secret);
    await expect(wellFormed).rejects.toThrow('was not to be used');
  });
});

describe('an API key', () => {
  test('is refused for an account that does not exist, and with an expiry in the past', async () => {
    const foreign = face.createApiKey({ accountId: 'acct_nobody', name: 'Till' });
    await expect(foreign).rejects.toHaveProperty('code', 'account_not_found');
    const late = face.createApiKey({ accountId, name: 'Till', expiresAt: now });
    await expect(late).rejects.toHaveProperty('code', 'api_key_invalid');
    expect(await face.listApiKeys(accountId)).toHaveLength(1);
  });

  test('cannot be created while its account has 100 in use, not counting revoked and expired ones', async () => {
    const create = (expiresAt?: Date) =>
      face.createApiKey({ accountId, name: 'Till', ...(expiresAt && { expiresAt }) });
    for (let n = 1; n < 99; n++) await create();
    await create(new Date(now.getTime() + hour));
    await expect(create()).rejects.toMatchObject({
      code: 'api_keys_full',
      message: 'An account has at most 100 API keys in use. Revoke one that you no longer need.',
    });
    clock.advance(hour);
    await create();
    await expect(create()).rejects.toHaveProperty('code', 'api_keys_full');
    await face.revokeApiKey(first.id);
    await create();
  });
});

describe('the rotation of an API key', () => {
  test('accepts both secrets until the overlap ends, then only the new one', async () => {
    const second = await face.rotateApiKey(first.id, '15m');
    const third = await face.rotateApiKey(first.id);
    expect(new Set([first.secret, second.secret, third.secret]).size).toBe(3);
    const { secret, ...key } = third;
    const oldSecretsUntil = new Date(now.getTime() + 24 * hour);
    expect(await face.listApiKeys(accountId)).toEqual([{ ...key, oldSecretsUntil }]);
    expect(key.hint.startsWith(secret.slice(0, 14))).toBe(true);
    const opened = async () => {
      const secrets = [first.secret, second.secret, secret];
      const outcomes = await Promise.allSettled(secrets.map((its) => face.authenticate(its)));
      return outcomes.map(({ status }) => status === 'fulfilled');
    };
    expect(await opened()).toEqual([true, true, true]);
    clock.advance(hour / 4);
    expect(await opened()).toEqual([false, true, true]);
    clock.advance(23.75 * hour);
    expect(await opened()).toEqual([false, false, true]);
  });

  test('is refused for a revoked or unknown key', async () => {
    await face.revokeApiKey(first.id);
    const late = face.rotateApiKey(first.id);
    await expect(late).rejects.toHaveProperty('code', 'api_key_invalid');
    const unknown = face.rotateApiKey('key_nobody');
    await expect(unknown).rejects.toHaveProperty('code', 'api_key_not_found');
  });
});

describe('managing an API key', () => {
  const changes = (byAccount?: string) => ({
    rotated: () => face.rotateApiKey(first.id, '0', byAccount),
    revoked: () => face.revokeApiKey(first.id, byAccount),
    freed: () => face.liftBan(first.id, byAccount),
  });

  test.each(['rotated', 'revoked', 'freed'] as const)(
    "is refused for another account's key: it cannot be %s and appears as missing",
    async (change) => {
      const draft = { name: 'Farm', email: 'owner@farm.example', plan: 'pro' } as const;
      const stranger = (await face.createAccount(draft)).account.id;
      const before = (await happened()).length;
      await expect(changes(stranger)[change]()).rejects.toHaveProperty('code', 'api_key_not_found');
      expect(await happened()).toHaveLength(before);
      expect(await face.authenticate(first.secret)).toMatchObject({ keyId: first.id });
    },
  );

  test.each(['rotated', 'freed', 'revoked'] as const)(
    "works for the key's own account and for an operator: the key can be %s",
    async (change) => {
      for (const by of [accountId, undefined])
        expect(await changes(by)[change]()).toMatchObject({ id: first.id, accountId });
    },
  );
});
