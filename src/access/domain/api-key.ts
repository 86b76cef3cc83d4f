import type { Decision } from '../../kernel/decision.ts';
import { DomainError } from '../../kernel/domain-error.ts';
import { isLine } from '../../kernel/text.ts';
import type { AccessErrorCode } from './access-error.ts';
import type { ApiKeyIssued, ApiKeyRevoked } from './access-event.ts';

export const scopes = ['pets:read', 'pets:write', 'orders:read'] as const;
export type Scope = (typeof scopes)[number];

/** An API key without its secret: that is shown once and kept as a hash only. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** The first and last characters of the secret, to recognise it. */
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
  readonly revokedAt: Date | undefined;
}

/** @throws DomainError `api_key_invalid` */
export const issueApiKey = (
  draft: Omit<ApiKey, 'createdAt' | 'revokedAt'>,
  now: Date,
): Decision<ApiKey, ApiKeyIssued> => {
  const name = draft.name.trim();
  if (!isLine(name, 100)) {
    throw invalid('An API key needs a name of 1 to 100 characters without control characters.');
  }
  if (draft.scopes.length === 0) {
    throw invalid(`An API key needs at least one scope of ${scopes.join(', ')}.`);
  }
  if (draft.expiresAt && draft.expiresAt <= now) {
    throw invalid('The expiry of an API key must lie in the future.');
  }
  return {
    state: { ...draft, name, createdAt: now, revokedAt: undefined },
    events: [
      { type: 'api_key_issued', accountId: draft.accountId, occurredAt: now, keyId: draft.id },
    ],
  };
};

/** From now on the key opens nothing. Revoking twice is no error and keeps the first time. */
export const revokeApiKey = (key: ApiKey, now: Date): Decision<ApiKey, ApiKeyRevoked> =>
  key.revokedAt
    ? { state: key, events: [] }
    : {
        state: { ...key, revokedAt: now },
        events: [
          { type: 'api_key_revoked', accountId: key.accountId, occurredAt: now, keyId: key.id },
        ],
      };

export const opens = (key: ApiKey, now: Date): boolean =>
  !key.revokedAt && (!key.expiresAt || now < key.expiresAt);

const invalid = (message: string) => new DomainError<AccessErrorCode>('api_key_invalid', message);
