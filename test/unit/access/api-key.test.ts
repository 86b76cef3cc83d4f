import {
  type ApiKey,
  type Ban,
  banApiKey,
  base62,
  composeSecret,
  defaultScopes,
  isBanned,
  issueApiKey,
  isWellFormedSecret,
  keyLimits,
  liftBan,
  roomFor,
  nextBan,
  opens,
  revokeApiKey,
  rotateApiKey,
  scopes,
  secretHint,
} from '../../../src/access/domain/api-key.ts';
import { type Overlap, overlaps } from '../../../src/kernel/overlap.ts';
import { anyCharacter } from '../../support/seeded-random.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { crc32 } from 'node:zlib';

const now = new Date('2026-03-01T10:00:00.000Z');
const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
const draft = {
  id: 'key_1',
  accountId: 'acct_1',
  name: 'Till',
  hint: 'pets_live_0123…wxyz',
  scopes,
  projectId: undefined,
  expiresAt: undefined,
};
const fresh = { revokedAt: undefined, lastUsedAt: undefined, ban: undefined };
const event = { accountId: 'acct_1', keyId: 'key_1' };

test('the oldest keys that no longer work make room for one more', () => {
  const ended = [{ revokedAt: now }, { expiresAt: now }, { revokedAt: at(-1) }];
  const working = Array.from({ length: keyLimits.kept - 2 }, () => ({ expiresAt: at(1) }));
  const keys = [...working, ...ended].map((key, n) => ({
    id: String(n),
    revokedAt: undefined,
    expiresAt: undefined,
    ...key,
  }));
  const room = { inUse: keyLimits.kept - 2, surplus: ['498', '499'] };
  expect(roomFor(keys, now)).toEqual(room);
  expect(roomFor(keys.slice(2), now)).toEqual({ inUse: keyLimits.kept - 4, surplus: [] });
});

describe('issuing an API key', () => {
  test('creates a key that is not revoked, with an event', () => {
    expect(issueApiKey({ ...draft, name: '  Till ' }, now)).toEqual({
      state: { ...draft, createdAt: now, ...fresh },
      events: [{ type: 'api_key_issued', ...event, occurredAt: now }],
    });
  });

  test('a key may deploy only if its owner chose that, and only to the chosen project, if there is one', () => {
    expect(defaultScopes).toEqual(['pets:read', 'pets:write', 'orders:read']);
    const { state } = issueApiKey({ ...draft, projectId: 'proj_1' }, now);
    expect(state.projectId).toBe('proj_1');
  });

  test.each([
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: '\u2066Till' }, 'direction marks'],
    [{ scopes: [] }, 'scope'],
    [{ scopes: ['pets:read'], projectId: 'proj_1' } as const, 'deploys:write'],
    [{ expiresAt: now }, 'expiry'],
    [{ expiresAt: at(-1) }, 'expiry'],
  ])('is refused with %o, and says why', (wrong, word) => {
    const issuing = () => issueApiKey({ ...draft, ...wrong }, now);
    expect(issuing).toThrow(expect.objectContaining({ code: 'api_key_invalid' }));
    expect(issuing).toThrow(word);
  });

  test.each([{ name: 'x'.repeat(100) }, { scopes: ['pets:read'] as const }, { expiresAt: at(1) }])(
    'is possible with %o',
    (right) => {
      expect(issueApiKey({ ...draft, ...right }, now).state).toMatchObject(right);
    },
  );
});

describe('an API key', () => {
  test('works forever when it has no expiry', () => {
    const { state: key } = issueApiKey(draft, now);
    expect([now, at(1e12)].map((moment) => opens(key, moment))).toEqual([true, true]);
  });

  test('works until its expiry', () => {
    const { state: key } = issueApiKey({ ...draft, expiresAt: at(1000) }, now);
    const moments = [at(0), at(999), at(1000), at(1001)];
    expect(moments.map((moment) => opens(key, moment))).toEqual([true, true, false, false]);
  });

  test('does not work once it is revoked, whatever the clock says', () => {
    const { state: key } = issueApiKey({ ...draft, expiresAt: at(1e6) }, now);
    const revoked = revokeApiKey(key, at(5));
    expect(revoked).toEqual({
      state: { ...key, revokedAt: at(5) },
      events: [{ type: 'api_key_revoked', ...event, occurredAt: at(5) }],
    });
    expect([at(-9), at(5)].map((moment) => opens(revoked.state, moment))).toEqual([false, false]);
  });

  test('keeps the time of its first revocation when it is revoked again', () => {
    const { state: revoked } = revokeApiKey(issueApiKey(draft, now).state, at(5));
    expect(revokeApiKey(revoked, at(6))).toEqual({ state: revoked, events: [] });
  });
});

const random = fc.string({
  unit: fc.constantFrom(...Array.from(base62)),
  minLength: 32,
  maxLength: 32,
});
const secret = random.map(composeSecret);

/** The published definition, written independently of the code over zlib's CRC-32. */
const expected = (text: string): string => {
  let rest = BigInt(crc32(text));
  const digits = Array.from({ length: 6 }, () => {
    const digit = base62.charAt(Number(rest % 62n));
    rest /= 62n;
    return digit;
  });
  return text + digits.reverse().join('');
};

describe('the secret of an API key', () => {
  test('is pets_live_, 32 random characters, and 6 characters of a CRC-32 as zlib computes it', () => {
    const known = composeSecret('0123456789ABCDEFGHIJKLMNOPQRSTUV');
    expect(known).toBe(expected('pets_live_0123456789ABCDEFGHIJKLMNOPQRSTUV'));
    expect(known).toHaveLength(48);
    fc.assert(fc.property(random, (text) => composeSecret(text) === expected(`pets_live_${text}`)));
  });

  test('is refused when any single character was changed', () => {
    const anyChange = fc.tuple(secret, fc.nat(47), fc.string({ unit: anyCharacter, maxLength: 1 }));
    fc.assert(
      fc.property(anyChange, ([whole, place, other]) => {
        fc.pre(whole.charAt(place) !== other);
        return !isWellFormedSecret(whole.slice(0, place) + other + whole.slice(place + 1));
      }),
    );
    const [known = ''] = fc.sample(secret, { numRuns: 1, seed: 1 });
    const mistyped = Array.from(known, (was, place) =>
      Array.from(
        base62.replace(was, ''),
        (other) => known.slice(0, place) + other + known.slice(place + 1),
      ),
    );
    expect(mistyped.flat()).toHaveLength(46 * 61 + 2 * 62);
    expect(mistyped.flat().filter(isWellFormedSecret)).toEqual([]);
  });

  test('is refused when two neighbouring characters were swapped', () => {
    fc.assert(
      fc.property(secret, fc.integer({ min: 10, max: 46 }), (whole, place) => {
        const [a, b] = [whole.charAt(place), whole.charAt(place + 1)];
        fc.pre(a !== b);
        return !isWellFormedSecret(whole.slice(0, place) + b + a + whole.slice(place + 2));
      }),
    );
  });

  test('is refused at any other length, even with a correct checksum', () => {
    const length = fc.integer({ min: 0, max: 64 }).filter((its) => its !== 32);
    const wrong = length.chain((its) => fc.string({ minLength: its, maxLength: its }));
    fc.assert(fc.property(wrong, (text) => !isWellFormedSecret(expected(`pets_live_${text}`))));
    fc.assert(
      fc.property(secret, fc.constantFrom(' ', '\n', '0'), (whole, more) => {
        expect([whole + more, more + whole].map(isWellFormedSecret)).toEqual([false, false]);
      }),
    );
  });

  test('is refused with another prefix, even with a correct checksum', () => {
    fc.assert(fc.property(random, (text) => !isWellFormedSecret(expected(`pets_test_${text}`))));
  });

  test('is shown in lists by the four characters at each end', () => {
    const whole = composeSecret('0123456789ABCDEFGHIJKLMNOPQRSTUV');
    expect(secretHint(whole)).toBe(`pets_live_0123…${whole.slice(-4)}`);
  });
});

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
          type: 'api_key_rotated',
          accountId: 'acct_1',
          keyId: 'key_1',
          occurredAt: now,
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

const [minute, hour] = [60_000, 3_600_000];
const { state: key } = issueApiKey(draft, now);

describe('a ban', () => {
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

  test('applies until its end and not after', () => {
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

  test('that is already banned changes nothing, and a new ban after its end lasts longer', () => {
    expect(banApiKey(banned, at(5 * minute - 1))).toEqual({ state: banned, events: [] });
    const next = banApiKey(banned, at(5 * minute));
    expect(next.state.ban).toMatchObject({ since: at(5 * minute), minutes: 10 });
    expect(next.events).toHaveLength(1);
  });

  test('can be lifted, and the next ban is still twice as long', () => {
    const lifted = liftBan(banned, at(minute));
    expect(lifted).toEqual({
      state: { ...key, ban: { since: now, until: at(minute), minutes: 5 } },
      events: [{ type: 'api_key_ban_lifted', ...event, occurredAt: at(minute) }],
    });
    expect(isBanned(lifted.state.ban, at(minute))).toBe(false);
    expect(banApiKey(lifted.state, at(minute)).state.ban?.minutes).toBe(10);
  });

  test('is brought by the tenth refusal of a minute or a later one, and after a lift by a further tenth', () => {
    const isBrought = (before: ApiKey, after: number, strikes: number): boolean =>
      banApiKey(before, at(after), strikes).events.length > 0;
    expect([10, 11, 19, 20].map((strikes) => isBrought(key, 0, strikes))).toEqual(
      Array(4).fill(true),
    );
    const { state: lifted } = liftBan(banned, at(1000));
    expect([11, 19, 20, 21].map((strikes) => isBrought(lifted, 2000, strikes))).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(isBrought(lifted, minute, 11)).toBe(true);
  });

  test('cannot be lifted when it is over or never existed', () => {
    expect(liftBan(banned, at(5 * minute))).toEqual({ state: banned, events: [] });
    expect(liftBan(key, now)).toEqual({ state: key, events: [] });
  });
});
