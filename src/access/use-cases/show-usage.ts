import { limitsOf, type Limits } from '../domain/plan.ts';
import { accountNotFound } from '../domain/access-error.ts';
import { judge, type Verdict } from '../domain/rate-quota.ts';
import type { AccessPorts } from '../ports.ts';
import type { CallsOfKey, HourOfUsage } from '../usage-ports.ts';

export interface Usage {
  readonly limits: Limits;
  /** The windows as they stand now. */
  readonly quota: Verdict;
  readonly hours: readonly HourOfUsage[];
  /** Keys that still call an operation that will be removed. */
  readonly deprecated: readonly CallsOfKey[];
}

/** What an account used of its quota since a time, hour by hour. @throws DomainError `account_not_found` */
export const showUsage =
  ({ accounts, counters, usage, clock, deprecatedOperations }: UsagePorts) =>
  async (accountId: string, since: Date): Promise<Usage> => {
    const account = await accounts.find(accountId);
    if (!account) throw accountNotFound(accountId);
    const now = clock.now();
    const limits = limitsOf(account.plan, account.ownLimits);
    const [counts, hours, deprecated] = await Promise.all([
      counters.peek(`account:${accountId}`, now),
      usage.list(accountId, since),
      usage.callsTo(deprecatedOperations, accountId, since),
    ]);
    return { limits, quota: judge(limits, counts, true, now), hours, deprecated };
  };

export type UsagePorts = Pick<
  AccessPorts,
  'accounts' | 'counters' | 'usage' | 'clock' | 'deprecatedOperations'
>;
