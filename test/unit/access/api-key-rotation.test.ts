import { describe, expect, test } from '@jest/globals';
import {
  issueApiKey,
  overlaps,
  revokeApiKey,
  rotateApiKey,
  scopes,
  type Overlap,
} from '../../../src/access/domain/api-key.ts';

const now = new Date('2026-03-01T10:00:00.000Z');
const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
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
