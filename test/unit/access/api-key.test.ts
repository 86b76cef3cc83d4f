import { describe, expect, test } from '@jest/globals';
import { issueApiKey, opens, revokeApiKey, scopes } from '../../../src/access/domain/api-key.ts';

const now = new Date('2026-03-01T10:00:00.000Z');
const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
const draft = {
  ...{ id: 'key_1', accountId: 'acct_1', name: 'Till', hint: 'pets_live_0123…wxyz' },
  ...{ scopes, expiresAt: undefined },
};
const fresh = { revokedAt: undefined, lastUsedAt: undefined, ban: undefined };
const event = { accountId: 'acct_1', keyId: 'key_1' };

describe('issuing an API key', () => {
  test('creates a key that is not revoked, with an event', () => {
    expect(issueApiKey({ ...draft, name: '  Till ' }, now)).toEqual({
      state: { ...draft, createdAt: now, ...fresh },
      events: [{ type: 'api_key_issued', ...event, occurredAt: now }],
    });
  });

  test.each([
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: '\u2066Till' }, 'direction marks'],
    [{ scopes: [] }, 'scope'],
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
  test('works for ever when it has no expiry', () => {
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

  test('keeps the first time of its revocation when it is revoked again', () => {
    const { state: revoked } = revokeApiKey(issueApiKey(draft, now).state, at(5));
    expect(revokeApiKey(revoked, at(6))).toEqual({ state: revoked, events: [] });
  });
});
