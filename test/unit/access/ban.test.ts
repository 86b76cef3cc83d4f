import { describe, expect, test } from '@jest/globals';
import {
  bringsBan,
  isBanned,
  nextBan,
  type Ban,
  banApiKey,
  issueApiKey,
  liftBan,
  scopes,
} from '../../../src/access/domain/api-key.ts';

const now = new Date('2026-03-01T10:00:00Z');
const [minute, hour] = [60_000, 3_600_000];
const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
const draft = { id: 'key_1', accountId: 'acct_1', name: 'Till', hint: 'pets_live_0123…wxyz' };
const { state: key } = issueApiKey({ ...draft, scopes, expiresAt: undefined }, now);
const event = { accountId: 'acct_1', keyId: 'key_1' };

describe('a ban', () => {
  test('comes with each tenth refusal', () => {
    const strikes = Array.from({ length: 32 }, (_, n) => n);
    expect(strikes.filter(bringsBan)).toEqual([10, 20, 30]);
  });

  test('lasts five minutes at first', () => {
    expect(nextBan(undefined, now)).toEqual({ since: now, until: at(5 * minute), minutes: 5 });
  });

  test('lasts twice as long as the last one within 24 hours, an hour at most', () => {
    const minutes = [];
    let ban: Ban | undefined;
    for (let n = 0; n < 7; n++) {
      ban = nextBan(ban, at(n * (24 * hour - 1)));
      expect(ban.until.getTime() - ban.since.getTime()).toBe(ban.minutes * minute);
      minutes.push(ban.minutes);
    }
    expect(minutes).toEqual([5, 10, 20, 40, 60, 60, 60]);
  });

  test.each([5, 40, 60])(
    'lasts five minutes again 24 hours after one of %i minutes began',
    (minutes) => {
      const last = { since: now, until: at(minutes * minute), minutes };
      expect(nextBan(last, at(24 * hour)).minutes).toBe(5);
      expect(nextBan(last, at(24 * hour - 1)).minutes).toBe(Math.min(2 * minutes, 60));
    },
  );

  test('is not lost when the clock jumps back', () => {
    const last = { since: now, until: at(5 * minute), minutes: 5 };
    expect(nextBan(last, at(-hour)).minutes).toBe(10);
  });

  test('applies before its end, and no longer at it', () => {
    const ban = nextBan(undefined, now);
    const moments = [0, 5 * minute - 1, 5 * minute, hour];
    expect(moments.map((moment) => isBanned(ban, at(moment)))).toEqual([true, true, false, false]);
    expect(isBanned(undefined, now)).toBe(false);
  });
});

describe('banning an API key', () => {
  const { state: banned } = banApiKey(key, now);

  test('stores the ban and its end', () => {
    const until = at(5 * minute);
    expect(banApiKey(key, now)).toEqual({
      state: { ...key, ban: { since: now, until, minutes: 5 } },
      events: [
        { type: 'api_key_banned', ...event, occurredAt: now, until: '2026-03-01T10:05:00.000Z' },
      ],
    });
  });

  test('that is already banned changes nothing, and a ban after its end lasts longer', () => {
    expect(banApiKey(banned, at(5 * minute - 1))).toEqual({ state: banned, events: [] });
    const next = banApiKey(banned, at(5 * minute));
    expect(next.state.ban).toMatchObject({ since: at(5 * minute), minutes: 10 });
    expect(next.events).toHaveLength(1);
  });

  test('is undone by lifting the ban, and the next one is still twice as long', () => {
    const lifted = liftBan(banned, at(minute));
    expect(lifted).toEqual({
      state: { ...key, ban: { since: now, until: at(minute), minutes: 5 } },
      events: [{ type: 'api_key_ban_lifted', ...event, occurredAt: at(minute) }],
    });
    expect(isBanned(lifted.state.ban, at(minute))).toBe(false);
    expect(banApiKey(lifted.state, at(minute)).state.ban?.minutes).toBe(10);
  });

  test('cannot be lifted when it is over, or never was', () => {
    expect(liftBan(banned, at(5 * minute))).toEqual({ state: banned, events: [] });
    expect(liftBan(key, now)).toEqual({ state: key, events: [] });
  });
});
