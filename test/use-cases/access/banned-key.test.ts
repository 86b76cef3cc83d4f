import { beforeEach, describe, expect, test } from '@jest/globals';
import { meteredAccounts, type MeteredAccount } from '../../support/access/access-lab.ts';

const meteredAccount = meteredAccounts();
const start = new Date('2026-03-01T10:00:30Z');
const minute = 60_000;
const all = (times: number, kind: string) => Array<string>(times).fill(kind);

let account: MeteredAccount;
let call: MeteredAccount['call'];
let callMany: MeteredAccount['callMany'];
let bans: MeteredAccount['bans'];
beforeEach(async () => {
  account = await meteredAccount(start);
  ({ call, callMany, bans } = account);
  await callMany(12);
});

describe('a banned key', () => {
  test('uses no quota, and does not prolong its ban', async () => {
    account.clock.advance(5 * minute - 1);
    expect(await callMany(30)).toEqual(all(30, 'banned'));
    account.clock.advance(1);
    expect(await callMany(3)).toEqual(['allowed', 'allowed', 'refused']);
    account.clock.advance(minute);
    expect(await callMany(3)).toEqual(['allowed', 'allowed', 'refused']);
    expect(await bans()).toHaveLength(1);
  });

  test('works again once the ban is lifted', async () => {
    const { keyId } = await account.caller();
    account.clock.advance(minute);
    await account.face.liftBan(keyId);
    expect((await call()).kind).toBe('allowed');
    const unknown = account.face.liftBan('key_nobody');
    await expect(unknown).rejects.toHaveProperty('code', 'api_key_not_found');
  });

  test('whose ban is lifted within the same minute gets ten more refusals before the next ban', async () => {
    const { keyId } = await account.caller();
    await account.face.liftBan(keyId);
    expect(await callMany(12)).toEqual([...all(10, 'refused'), 'banned', 'banned']);
    expect(await call()).toMatchObject({ ban: { minutes: 10 } });
  });
});
