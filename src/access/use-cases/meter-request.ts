import { Unavailable } from '../../kernel/unavailable.ts';
import { banApiKey } from '../domain/api-key.ts';
import { bringsBan, isBanned, type Ban } from '../domain/ban.ts';
import { planLimits, type Limits } from '../domain/plan.ts';
import { highUseOf, judge, type Verdict } from '../domain/rate-quota.ts';
import type { AccessPorts } from '../ports.ts';
import type { Caller } from './authenticate.ts';

export interface Banned {
  readonly kind: 'banned';
  readonly ban: Ban;
  readonly limits: Limits;
}

type MeterPorts = Pick<AccessPorts, 'counters' | 'apiKeys' | 'clock'>;
type CallerPorts = MeterPorts & Pick<AccessPorts, 'highUses'>;

/**
 * Counts a request of a key against its account's quota. Refusals in a row get the key banned; while it is,
 * its requests count nowhere.
 * @throws Unavailable
 */
export const meterCaller =
  ({ counters, highUses, apiKeys, clock }: CallerPorts) =>
  async ({ accountId, keyId, limits, ban }: Caller): Promise<Verdict | Banned> => {
    const now = clock.now();
    if (isBanned(ban, now)) return { kind: 'banned', ban, limits };
    const take = { subject: `account:${accountId}`, limits, striker: keyId, now };
    const { allowed, counts, strikes } = await counters.take(take);
    const highUse = highUseOf(limits, counts, now);
    if (highUse) highUses.note(accountId, highUse);
    if (!allowed && bringsBan(strikes)) {
      // While the database is unreachable the refusal still holds; the ban follows after ten more.
      await apiKeys.change(keyId, (key) => banApiKey(key, now)).catch(unlessUnavailable);
    }
    return judge(limits, counts, allowed, now);
  };

export const unlessUnavailable = (error: unknown): undefined => {
  if (!(error instanceof Unavailable)) throw error;
};

/** Wrong keys that one address may present in a UTC minute. */
export const badKeyLimits: Limits = { perMinute: 20, perDay: Number.MAX_SAFE_INTEGER };

/**
 * Counts a request without a valid key against its address, with the numbers of the plan Free; one with a wrong
 * key also against the guard of keys.
 * @param address as text; all addresses of one IPv6 network share one
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

/** What is left for an address, without counting: for answers that are not counted as requests. */
export const peekAddress =
  ({ counters, clock }: MeterPorts) =>
  async (address: string): Promise<Verdict> => {
    const now = clock.now();
    return judge(planLimits.free, await counters.peek(`address:${address}`, now), true, now);
  };
