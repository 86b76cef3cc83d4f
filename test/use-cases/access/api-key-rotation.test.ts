import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import type { IssuedKey } from '../../../src/access/use-cases/api-keys.ts';
import { accessLabs } from '../../support/access/access-lab.ts';
import type { SettableClock } from '../../support/settable-clock.ts';

const accessLab = accessLabs();
const now = new Date('2026-03-01T10:00:00.000Z');
const hour = 3_600_000;

describe('the rotation of an API key', () => {
  let face: Access;
  let clock: SettableClock;
  let accountId: string;
  let first: IssuedKey;
  beforeEach(async () => {
    ({ face, clock } = await accessLab(now));
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
