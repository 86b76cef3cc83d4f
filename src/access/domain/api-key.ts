import { type AccessErrorCode, apiKeyNotFound } from './access-error.ts';
import type { AccessEvent } from './access-event.ts';
import { type Decision, DomainError } from '../../kernel/decision.ts';
import { type Overlap, overlaps } from '../../kernel/overlap.ts';
import { windowIndex } from './quota.ts';
import { isName } from '../../kernel/text.ts';
import crc32 from 'crc-32';

export const scopes = ['pets:read', 'pets:write', 'orders:read', 'deploys:write'] as const;
export type Scope = (typeof scopes)[number];

/** The default excludes `deploys:write`, so that only keys meant for it can change what visitors see. */
export const defaultScopes = scopes.filter((scope) => scope !== 'deploys:write');

export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  /** The only project that the key deploys to; undefined for all projects. The other scopes cover the whole account. */
  readonly projectId: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date | undefined;
  readonly revokedAt: Date | undefined;
  /** Time of the last accepted request; written at most once a minute. */
  readonly lastUsedAt: Date | undefined;
  /** The last ban, even if it is over, because the length of the next ban depends on it. */
  readonly ban: Ban | undefined;
}

type KeyDecision = Decision<ApiKey, AccessEvent>;

/**
 * `inUse` limits an account's working keys, and `kept` all its keys. Beyond `kept`, the oldest keys that no longer work
 * are deleted.
 */
export const keyLimits = {
  inUse: 100,
  kept: 500,
  /** Secrets of one key, including the new one. Beyond that, the secrets that would end first end at once. */
  secrets: 10,
} as const;

/** @param inUse number of the account's working keys @throws DomainError `api_keys_full` */
export const admitApiKey = (inUse: number): void => {
  if (inUse < keyLimits.inUse) return;
  throw new DomainError<AccessErrorCode>(
    'api_keys_full',
    `An account has at most ${String(keyLimits.inUse)} API keys in use. Revoke one that you no longer need.`,
  );
};

/** @param keys all of the account, the oldest first @returns `surplus`: the keys to delete before one more is added */
export const roomFor = (
  keys: readonly Pick<ApiKey, 'id' | 'revokedAt' | 'expiresAt'>[],
  now: Date,
): { readonly inUse: number; readonly surplus: readonly string[] } => {
  const idle = keys.filter((key) => !opens(key, now)).map(({ id }) => id);
  const surplus = idle.slice(0, Math.max(0, keys.length + 1 - keyLimits.kept));
  return { inUse: keys.length - idle.length, surplus };
};

/** @throws DomainError `api_key_invalid` */
export const issueApiKey = (
  draft: Omit<ApiKey, 'createdAt' | 'revokedAt' | 'lastUsedAt' | 'ban'>,
  now: Date,
): KeyDecision => {
  const name = draft.name.trim();
  if (!isName(name, 100)) {
    throw invalid(
      'An API key needs a name of 1 to 100 characters, without control characters and direction marks.',
    );
  }
  if (draft.scopes.length === 0) {
    throw invalid(`An API key needs at least one scope of ${scopes.join(', ')}.`);
  }
  if (draft.projectId !== undefined && !draft.scopes.includes('deploys:write')) {
    throw invalid(
      'A key for one project needs the scope deploys:write, because only deploys have a project.',
    );
  }
  if (draft.expiresAt && draft.expiresAt <= now) {
    throw invalid('The expiry of an API key must be in the future.');
  }
  const unused = { revokedAt: undefined, lastUsedAt: undefined, ban: undefined };
  return {
    state: { ...draft, name, createdAt: now, ...unused },
    events: [{ type: 'api_key_issued', ...about(draft, now) }],
  };
};

export const revokeApiKey = (key: ApiKey, now: Date): KeyDecision =>
  key.revokedAt
    ? { state: key, events: [] }
    : {
        state: { ...key, revokedAt: now },
        events: [{ type: 'api_key_revoked', ...about(key, now) }],
      };

/** A key with a new secret; older secrets end at `oldSecretsUntil`, or earlier if they were to end earlier. */
export interface Rotation {
  readonly key: ApiKey;
  readonly oldSecretsUntil: Date;
}

/** @throws DomainError `api_key_invalid` for a revoked or expired key */
export const rotateApiKey = (
  key: ApiKey,
  hint: string,
  overlap: Overlap,
  now: Date,
): Decision<Rotation, AccessEvent> => {
  if (!opens(key, now)) {
    throw invalid('This key is revoked or expired and cannot be rotated; make a new one.');
  }
  const oldSecretsUntil = new Date(now.getTime() + overlaps[overlap]);
  const oldSecretUntil = oldSecretsUntil.toISOString();
  return {
    state: { key: { ...key, hint }, oldSecretsUntil },
    events: [{ type: 'api_key_rotated', ...about(key, now), oldSecretUntil }],
  };
};

/**
 * The tenth refusal in a minute brings a ban. If a later one is handled first, that one does. After a ban was lifted
 * within its minute, the next multiple of ten brings one.
 * @param strikes refusals in this minute, at least ten
 */
export const banApiKey = (key: ApiKey, now: Date, strikes = strikesForBan): KeyDecision => {
  const hadOne = key.ban !== undefined && minuteOf(key.ban.since) === minuteOf(now);
  const hasMore = hadOne && strikes % strikesForBan !== 0;
  if (isBanned(key.ban, now) || hasMore) return { state: key, events: [] };
  const ban = nextBan(key.ban, now);
  const until = ban.until.toISOString();
  return {
    state: { ...key, ban },
    events: [{ type: 'api_key_banned', ...about(key, now), until }],
  };
};

export const liftBan = (key: ApiKey, now: Date): KeyDecision => {
  if (!isBanned(key.ban, now)) return { state: key, events: [] };
  return {
    state: { ...key, ban: { ...key.ban, until: now } },
    events: [{ type: 'api_key_ban_lifted', ...about(key, now) }],
  };
};

/** @param accountId the required owner of the key; undefined for an operator @throws DomainError `api_key_not_found` */
export const keyOf = (accountId: string | undefined, key: ApiKey): ApiKey => {
  if (accountId !== undefined && key.accountId !== accountId) throw apiKeyNotFound(key.id);
  return key;
};

const about = ({ id, accountId }: Pick<ApiKey, 'id' | 'accountId'>, now: Date) => ({
  accountId,
  occurredAt: now,
  keyId: id,
});

export const opens = (key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, now: Date): boolean =>
  !key.revokedAt && (!key.expiresAt || now < key.expiresAt);

const invalid = (message: string) => new DomainError<AccessErrorCode>('api_key_invalid', message);

export interface Ban {
  readonly since: Date;
  readonly until: Date;
  readonly minutes: number;
}

export const strikesForBan = 10;

const minuteOf = (now: Date): number => windowIndex('minute', now);

const firstBanMinutes = 5;
const longestBanMinutes = 60;
const memoryMs = 24 * 60 * 60 * 1000;

export const isBanned = (ban: Ban | undefined, now: Date): ban is Ban =>
  ban !== undefined && now < ban.until;

/** The first ban lasts 5 minutes. Each ban within 24 hours of the last one lasts twice as long, up to 60 minutes. */
export const nextBan = (last: Ban | undefined, now: Date): Ban => {
  const again = last !== undefined && now.getTime() - last.since.getTime() < memoryMs;
  const minutes = again ? Math.min(last.minutes * 2, longestBanMinutes) : firstBanMinutes;
  return { since: now, until: new Date(now.getTime() + minutes * 60_000), minutes };
};

/**
 * An API key's secret is `pets_live_`, 32 random base62 characters, and 6 base62 characters of the CRC-32 (ISO 3309, as
 * in zlib) of everything before. The checksum reveals a mistyped key without a look-up.
 */
const secretPrefix = 'pets_live_';
export const randomLength = 32;
const checksumLength = 6;

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** @param random 32 base62 characters from a cryptographic source */
export const composeSecret = (random: string): string => {
  const body = secretPrefix + random;
  return body + checksum(body);
};

const shape = new RegExp(`^${secretPrefix}[0-9A-Za-z]{${String(randomLength + checksumLength)}}$`);

export const isWellFormedSecret = (secret: string): boolean =>
  shape.test(secret) &&
  checksum(secret.slice(0, -checksumLength)) === secret.slice(-checksumLength);

/** Lists show a key as this hint, which is enough to recognise the key but not to use it. */
export const secretHint = (secret: string): string =>
  `${secret.slice(0, secretPrefix.length + 4)}…${secret.slice(-4)}`;

const checksum = (text: string): string => {
  let rest = crc32.str(text) >>> 0;
  let digits = '';
  for (let i = 0; i < checksumLength; i++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
};
