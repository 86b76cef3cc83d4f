import { limitsOf, type Limits } from '../domain/plan.ts';
import { accountNotFound } from '../domain/access-error.ts';
import { judge, type Verdict } from '../domain/rate-quota.ts';
import type { AccessPorts, HourOfUsage } from '../ports.ts';

export interface DeprecatedUse {
  readonly keyId: string;
  readonly operation: string;
  readonly requests: number;
  readonly lastHour: Date;
}

export interface Usage {
  readonly limits: Limits;
  /** The windows as they stand now. */
  readonly quota: Verdict;
  readonly hours: readonly HourOfUsage[];
  /** Keys that still call an operation that will be removed. */
  readonly deprecated: readonly DeprecatedUse[];
}

/** Operations that will be removed; the adapter that serves them marks them. */
const deprecatedOperations: readonly string[] = ['getPet'];

/** What an account used of its quota since a time. @throws DomainError `account_not_found` */
export const showUsage =
  ({
    accounts,
    counters,
    usage,
    clock,
  }: Pick<AccessPorts, 'accounts' | 'counters' | 'usage' | 'clock'>) =>
  async (accountId: string, since: Date): Promise<Usage> => {
    const account = await accounts.find(accountId);
    if (!account) throw accountNotFound(accountId);
    const now = clock.now();
    const limits = limitsOf(account.plan, account.ownLimits);
    const [counts, hours] = await Promise.all([
      counters.peek(`account:${accountId}`, now),
      usage.list(accountId, since),
    ]);
    return {
      limits,
      quota: judge(limits, counts, true, now),
      hours,
      deprecated: deprecatedIn(hours),
    };
  };

const deprecatedIn = (hours: readonly HourOfUsage[]): readonly DeprecatedUse[] => {
  const calls = hours.filter(({ operation }) => deprecatedOperations.includes(operation));
  const byKey = Map.groupBy(calls, ({ keyId, operation }) => `${keyId} ${operation}`);
  return [...byKey.values()].flatMap((of) => {
    const [first] = of;
    if (!first) return [];
    const requests = of.reduce((sum, one) => sum + one.requests, 0);
    const lastHour = new Date(Math.max(...of.map((one) => one.hour.getTime())));
    return [{ keyId: first.keyId, operation: first.operation, requests, lastHour }];
  });
};
