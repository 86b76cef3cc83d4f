import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Unavailable } from '../../../src/kernel/ports.ts';
import {
  fewRequests as limits,
  meteredAccounts,
  type MeteredAccount,
} from '../../support/access/access-lab.ts';

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
});

describe('a request', () => {
  test('passes while quota is left, and returns how much remains', async () => {
    const speaks = { window: 'minute', limit: 2, resetAt: new Date('2026-03-01T10:01:00Z') };
    const kind = 'allowed';
    expect(await call()).toEqual({ kind, limits, speaks: { ...speaks, remaining: 1 } });
    expect(await call()).toEqual({ kind, limits, speaks: { ...speaks, remaining: 0 } });
    expect(await call()).toEqual({ kind: 'refused', limits, speaks: { ...speaks, remaining: 0 } });
  });

  test('counts against its account, with any of its keys', async () => {
    expect([await callMany(1, 0), await callMany(2, 1)]).toEqual([
      ['allowed'],
      ['allowed', 'refused'],
    ]);
  });

  test('that is refused counts only as a strike', async () => {
    await callMany(9);
    account.clock.advance(minute);
    expect(await callMany(9)).toEqual([...all(2, 'allowed'), ...all(7, 'refused')]);
    account.clock.advance(minute);
    expect(await callMany(2)).toEqual(all(2, 'allowed'));
    expect(await call()).toMatchObject({ kind: 'refused', speaks: { window: 'day' } });
    expect(await bans()).toEqual([]);
  });
});

describe('ten refusals of a key inside a minute', () => {
  test('ban it for five minutes, and the tenth is still an ordinary refusal', async () => {
    expect(await callMany(12)).toEqual([...all(2, 'allowed'), ...all(10, 'refused')]);
    const until = new Date(start.getTime() + 5 * minute);
    const ban = { since: start, until, minutes: 5 };
    expect(await call()).toEqual({ kind: 'banned', ban, limits });
    expect(await bans()).toMatchObject([
      { accountId: account.accountId, until: until.toISOString() },
    ]);
  });

  test('do not affect the other keys of the account', async () => {
    await callMany(12);
    account.clock.advance(minute);
    expect([await callMany(1, 0), await callMany(1, 1)]).toEqual([['banned'], ['allowed']]);
  });

  test('do not add up over two keys or two minutes', async () => {
    await callMany(11, 0);
    await callMany(9, 1);
    account.clock.advance(minute);
    await callMany(11, 0);
    expect(await bans()).toEqual([]);
    expect((await call()).kind).toBe('refused');
    expect((await call()).kind).toBe('banned');
  });

  test('ban it once, even when requests from before the ban continue', async () => {
    const unaware = await account.caller();
    const calls = Array.from({ length: 40 }, () => account.face.meterCaller(unaware));
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
    expect(kinds).toEqual([...all(2, 'allowed'), ...all(10, 'refused'), ...all(28, 'banned')]);
    account.clock.advance(1000);
    await account.face.meterCaller(unaware);
    expect(await bans()).toHaveLength(1);
    expect(await call()).toMatchObject({ kind: 'banned', ban: { since: start } });
  });

  test('are only refusals while the database is unavailable, and the next one causes the ban', async () => {
    await callMany(11);
    const away = new Unavailable('The database', undefined);
    jest.spyOn(account.apiKeys, 'change').mockRejectedValueOnce(away);
    expect(await callMany(3)).toEqual(['refused', 'banned', 'banned']);
    expect(await bans()).toHaveLength(1);
  });

  test('do not hide any other failure', async () => {
    await callMany(11);
    const bug = new Error('a bug');
    jest.spyOn(account.apiKeys, 'change').mockRejectedValueOnce(bug);
    await expect(call()).rejects.toBe(bug);
  });
});

describe('a banned key', () => {
  beforeEach(() => callMany(12));

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

  test('gets ten more refusals before the next ban if its ban is lifted within the same minute', async () => {
    const { keyId } = await account.caller();
    await account.face.liftBan(keyId);
    expect(await callMany(12)).toEqual([...all(9, 'refused'), ...all(3, 'banned')]);
    expect(await call()).toMatchObject({ ban: { minutes: 10 } });
  });
});
