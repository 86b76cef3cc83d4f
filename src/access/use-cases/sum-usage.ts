import { accountNotFound } from '../domain/access-error.ts';
import { limitsOf, type Limits } from '../domain/plan.ts';
import { windowsOf, type WindowName, type WindowState } from '../domain/rate-quota.ts';
import type { CallsOfKey, UsageSum } from '../usage-ports.ts';
import type { UsagePorts } from './show-usage.ts';

export interface UsageSums {
  readonly limits: Limits;
  /** As they stand now. */
  readonly windows: Readonly<Record<WindowName, WindowState>>;
  readonly sums: readonly UsageSum[];
  /** Keys that called an operation that will be removed, within the last 30 days. */
  readonly deprecated: readonly CallsOfKey[];
}

const recentMs = 30 * 24 * 60 * 60 * 1000;

/** What an account used of its quota since a time, in sums. @throws DomainError `account_not_found` */
export const sumUsage =
  ({ accounts, counters, usage, clock, deprecatedOperations }: UsagePorts) =>
  async (accountId: string, since: Date, unit: 'hour' | 'day'): Promise<UsageSums> => {
    const account = await accounts.find(accountId);
    if (!account) throw accountNotFound(accountId);
    const now = clock.now();
    const limits = limitsOf(account.plan, account.ownLimits);
    const recently = new Date(now.getTime() - recentMs);
    const [counts, sums, deprecated] = await Promise.all([
      counters.peek(`account:${accountId}`, now),
      usage.sum(accountId, since, unit),
      usage.callsTo(deprecatedOperations, accountId, recently),
    ]);
    return { limits, windows: windowsOf(limits, counts, now), sums, deprecated };
  };
