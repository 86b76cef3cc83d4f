import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import {
  issueApiKey,
  overlaps,
  revokeApiKey,
  rotateApiKey,
  scopes,
  type Overlap,
} from '../../../src/access/domain/api-key.ts';
import type { IssuedKey } from '../../../src/access/use-cases/create-api-key.ts';
import type { SettableClock } from '../../memory/settable-clock.ts';
import { memoryAccess } from '../../support/access/memory-access.ts';

const now = new Date('2026-03-01T10:00:00.000Z');
const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
const hour = 3_600_000;
const draft = { id: 'key_1', accountId: 'acct_1', name: 'Till', hint: 'pets_live_0123…wxyz' };
const issued = (expiresAt?: Date) => issueApiKey({ ...draft, scopes, expiresAt }, now).state;
const names = Object.keys(overlaps) as Overlap[];

describe('rotating an API key', () => {
  test('changes only its hint, and says how long the old secret works', () => {
    const key = issued(at(1e10));
    const oldSecretsUntil = new Date('2026-03-02T10:00:00.000Z');
    expect(rotateApiKey(key, 'pets_live_new…', '24h', now)).toEqual({
      state: { key: { ...key, hint: 'pets_live_new…' }, oldSecretsUntil },
      events: [
        {
          ...{ type: 'api_key_rotated', accountId: 'acct_1', keyId: 'key_1', occurredAt: now },
          oldSecretUntil: oldSecretsUntil.toISOString(),
        },
      ],
    });
  });

  test('keeps the old secret valid for no time, 15 minutes, an hour, a day or a week', () => {
    const minutes = names.map((overlap) => {
      const { oldSecretsUntil } = rotateApiKey(issued(), 'new', overlap, now).state;
      return [overlap, (oldSecretsUntil.getTime() - now.getTime()) / 60_000];
    });
    const expected = { '0': 0, '15m': 15, '1h': 60, '24h': 24 * 60, '7d': 7 * 24 * 60 };
    expect(Object.fromEntries(minutes)).toEqual(expected);
  });

  test.each([
    ['revoked', revokeApiKey(issued(), now).state],
    ['expired', issued(at(1))],
  ])('is refused when it is %s', (_, key) => {
    const rotating = () => rotateApiKey(key, 'new', '24h', at(1));
    expect(rotating).toThrow(expect.objectContaining({ code: 'api_key_invalid' }));
    expect(rotating).toThrow('make a new one');
  });

  test('is possible up to its expiry', () => {
    expect(rotateApiKey(issued(at(1)), 'new', '0', now).state.oldSecretsUntil).toEqual(now);
  });
});

describe('the rotation of an API key', () => {
  let face: Access;
  let clock: SettableClock;
  let accountId: string;
  let first: IssuedKey;
  beforeEach(async () => {
    ({ face, clock } = memoryAccess(now));
    const draft = { name: 'Zoo', email: 'owner@zoo.example', plan: 'pro' } as const;
    const opened = await face.createAccount(draft);
    [accountId, first] = [opened.account.id, opened.key];
  });

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
