import type { AccessErrorCode } from '../domain/access-error.ts';
import {
  type Ban,
  banApiKey,
  isBanned,
  isWellFormedSecret,
  opens,
  type Scope,
  strikesForBan,
} from '../domain/api-key.ts';
import {
  highUseOf,
  judge,
  type Limits,
  type Plan,
  planLimits,
  type Verdict,
} from '../domain/quota.ts';
import type { AccessPorts } from '../ports.ts';
import { DomainError } from '../../kernel/decision.ts';
import { Unavailable } from '../../kernel/ports.ts';

export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly plan: Plan;
  readonly limits: Limits;
  readonly scopes: readonly Scope[];
  /** The only project that the key deploys to; undefined for all. */
  readonly projectId: string | undefined;
  readonly ban: Ban | undefined;
}

/**
 * Mistyped, unknown, revoked and expired keys get the same answer, so that it does not reveal which keys exist. The
 * look-up uses a hash, so no comparison depends on the secret.
 * @throws DomainError `invalid_api_key`
 */
export const authenticate =
  ({ apiKeys, keyMaterial, clock }: Pick<AccessPorts, 'apiKeys' | 'keyMaterial' | 'clock'>) =>
  async (secret: string): Promise<Caller> => {
    if (!isWellFormedSecret(secret)) throw refused();
    const holder = await apiKeys.findBySecretHash(keyMaterial.sha256(secret));
    const now = clock.now();
    if (!holder || !opens(holder.key, now)) throw refused();
    const { key, plan, limits, secretUntil } = holder;
    if (secretUntil && secretUntil <= now) throw refused();
    const { id: keyId, accountId, scopes, projectId, ban } = key;
    return { accountId, keyId, plan, limits, scopes, projectId, ban };
  };

const refused = () =>
  new DomainError<AccessErrorCode>(
    'invalid_api_key',
    'This API key is not valid. Send a current key as "Authorization: Bearer pets_live_…".',
  );

export interface Banned {
  readonly kind: 'banned';
  readonly ban: Ban;
  readonly limits: Limits;
}

type MeterPorts = Pick<AccessPorts, 'counters' | 'apiKeys' | 'clock'>;
type CallerPorts = MeterPorts & Pick<AccessPorts, 'highUses'>;

/** Repeated refusals ban the key. Requests with a banned key are not counted. @throws Unavailable */
export const meterCaller =
  ({ counters, highUses, apiKeys, clock }: CallerPorts) =>
  async ({ accountId, keyId, limits, ban }: Caller): Promise<Verdict | Banned> => {
    const now = clock.now();
    if (isBanned(ban, now)) return { kind: 'banned', ban, limits };
    const take = { subject: `account:${accountId}`, limits, striker: keyId, now };
    const { allowed, counts, strikes } = await counters.take(take);
    const highUse = highUseOf(limits, counts, now);
    if (highUse) highUses.note(accountId, highUse);
    if (strikes >= strikesForBan) {
      // This caller may be from before the ban. While the database is unreachable, it is still refused.
      const found = await apiKeys
        .change(keyId, (key) => banApiKey(key, now, strikes))
        .catch(unlessUnavailable);
      const began = found?.ban;
      if (strikes > strikesForBan && isBanned(began, now)) {
        return { kind: 'banned', ban: began, limits };
      }
    }
    return judge(limits, counts, allowed, now);
  };

export const unlessUnavailable = (error: unknown): undefined => {
  if (!(error instanceof Unavailable)) throw error;
};

export const badKeyLimits: Limits = { perMinute: 20, perDay: Number.MAX_SAFE_INTEGER };

/**
 * Applies the limits of the Free plan. A wrong key also counts as a guess.
 * @param address shared by all of one IPv6 network
 */
export const meterAddress =
  ({ counters, clock }: MeterPorts) =>
  async (address: string, wrongKey: boolean): Promise<Verdict> => {
    const now = clock.now();
    if (wrongKey) {
      const guess = { subject: `guesses:${address}`, limits: badKeyLimits, now };
      const { allowed, counts } = await counters.take(guess);
      if (!allowed) return judge(badKeyLimits, counts, false, now);
    }
    const limits = planLimits.free;
    const { allowed, counts } = await counters.take({ subject: `address:${address}`, limits, now });
    return judge(limits, counts, allowed, now);
  };

/**
 * The remaining quota of an address, without counting a request. For answers that do not count as requests.
 */
export const peekAddress =
  ({ counters, clock }: MeterPorts) =>
  async (address: string): Promise<Verdict> => {
    const now = clock.now();
    return judge(planLimits.free, await counters.peek(`address:${address}`, now), true, now);
  };
