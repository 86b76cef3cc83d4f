import { limitsOf, type Limits } from '../domain/plan.ts';
import { accountNotFound } from '../domain/access-error.ts';
import {
  judge,
  windowsOf,
  type Verdict,
  type WindowName,
  type WindowState,
} from '../domain/rate-quota.ts';
import type { AccessPorts } from '../ports.ts';
import type { CallsOfKey, HourOfUsage, UsageSum } from '../usage-ports.ts';

export interface Usage {
  readonly limits: Limits;
  /** The windows as they stand now. */
  readonly quota: Verdict;
  readonly hours: readonly HourOfUsage[];
  /** Keys that still call an operation that will be removed. */
  readonly deprecated: readonly CallsOfKey[];
}

type UsagePorts = Pick<AccessPorts, 'accounts' | 'counters' | 'usage' | 'clock' | 'endings'>;

/** What an account used of its quota since a time, hour by hour. @throws DomainError `account_not_found` */
export const showUsage =
  ({ accounts, counters, usage, clock, endings }: UsagePorts) =>
  async (accountId: string, since: Date): Promise<Usage> => {
    const limits = await limitsIn(accounts, accountId);
    const now = clock.now();
    const [counts, hours, deprecated] = await Promise.all([
      counters.peek(`account:${accountId}`, now),
      usage.list(accountId, since),
      usage.callsTo(idsOf(endings), accountId, since),
    ]);
    return { limits, quota: judge(limits, counts, true, now), hours, deprecated };
  };

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
  ({ accounts, counters, usage, clock, endings }: UsagePorts) =>
  async (accountId: string, since: Date, unit: 'hour' | 'day'): Promise<UsageSums> => {
    const limits = await limitsIn(accounts, accountId);
    const now = clock.now();
    const recently = new Date(now.getTime() - recentMs);
    const [counts, sums, deprecated] = await Promise.all([
      counters.peek(`account:${accountId}`, now),
      usage.sum(accountId, since, unit),
      usage.callsTo(idsOf(endings), accountId, recently),
    ]);
    return { limits, windows: windowsOf(limits, counts, now), sums, deprecated };
  };

/** @throws DomainError `account_not_found` */
const limitsIn = async (accounts: AccessPorts['accounts'], accountId: string): Promise<Limits> => {
  const account = await accounts.find(accountId);
  if (!account) throw accountNotFound(accountId);
  return limitsOf(account.plan, account.ownLimits);
};

const idsOf = (endings: UsagePorts['endings']): readonly string[] =>
  endings.map(({ operation }) => operation);
