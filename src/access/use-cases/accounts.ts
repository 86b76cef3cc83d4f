import { accountDeleted, accountNotFound } from '../domain/access-error.ts';
import {
  type Account,
  deleteAccount as deleted,
  type EndingOperation,
  firstStepAt,
  openAccount,
  removalStep,
  warnOfRemoval,
  warnOfUse,
} from '../domain/account.ts';
import { invitePerson } from '../domain/person.ts';
import {
  type HighUse,
  judge,
  type Limits,
  limitsOf,
  type Plan,
  type Verdict,
  type WindowName,
  windowsOf,
  type WindowState,
} from '../domain/quota.ts';
import type { AccessPorts, CallsOfKey, HourOfUsage, RequestsOfKey, UsageSum } from '../ports.ts';
import { type IssuedKey, mintKey } from './api-keys.ts';
import { endedBefore, hasEnded } from '../../kernel/deletion.ts';
import { earliest } from '../../kernel/ports.ts';

/** Opens an account with its first API key; its owner can sign in. @throws DomainError `account_invalid` */
export const createAccount =
  (ports: AccessPorts) =>
  async (draft: {
    readonly name: string;
    readonly email: string;
    readonly plan: Plan;
  }): Promise<{ readonly account: Account; readonly key: IssuedKey }> => {
    const now = ports.clock.now();
    const account = openAccount({ id: ports.ids.next('acct'), ...draft }, now);
    const { decision, issued } = mintKey(ports, { accountId: account.state.id, name: 'First key' });
    const { id: accountId, email } = account.state;
    const first = { id: ports.ids.next('pers'), accountId, email, role: 'owner' } as const;
    const owner = invitePerson(first, now);
    await ports.accounts.open(account, decision, owner);
    return { account: account.state, key: issued };
  };

/** Ends all sessions and links of its people. @throws DomainError `account_not_found` */
export const deleteAccount =
  ({ accounts, clock }: Pick<AccessPorts, 'accounts' | 'clock'>) =>
  (accountId: string): Promise<Account> =>
    accounts.change(accountId, (account) => deleted(account, clock.now()));

export const requireInService =
  ({ accounts }: Pick<AccessPorts, 'accounts'>) =>
  async (accountId: string): Promise<void> => {
    const account = await accounts.find(accountId);
    if (!account) throw accountNotFound(accountId);
    if (account.deletedAt) throw accountDeleted(accountId);
  };

const mostAtOnce = 20;

/** Lists accounts whose time for restoration is over, the longest deleted first. */
export const accountsToEnd =
  ({ accounts, clock }: Pick<AccessPorts, 'accounts' | 'clock'>) =>
  async (): Promise<readonly Account[]> =>
    accounts.deletedBefore(endedBefore(clock.now()), mostAtOnce);

/** @returns false while the account has projects, or an event of it waits for a subscriber */
export const endAccount =
  ({ accounts, clock }: Pick<AccessPorts, 'accounts' | 'clock'>) =>
  (accountId: string): Promise<boolean> =>
    accounts.end(accountId, (account) => hasEnded(account, clock.now()));

export interface Usage {
  readonly limits: Limits;
  readonly quota: Verdict;
  readonly hours: readonly HourOfUsage[];
  readonly deprecated: readonly CallsOfKey[];
}

type UsagePorts = Pick<AccessPorts, 'accounts' | 'counters' | 'usage' | 'clock' | 'endings'>;

/** The account's quota use since a time, hour by hour. @throws DomainError `account_not_found` */
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
  readonly windows: Readonly<Record<WindowName, WindowState>>;
  readonly sums: readonly UsageSum[];
  readonly byKey: readonly RequestsOfKey[];
  /** Calls by key to operations that will be removed, within the last 30 days. */
  readonly deprecated: readonly CallsOfKey[];
}

const recentMs = 30 * 24 * 60 * 60 * 1000;

/** The account's quota use since a time, in sums. @throws DomainError `account_not_found` */
export const sumUsage =
  ({ accounts, counters, usage, clock, endings }: UsagePorts) =>
  async (accountId: string, since: Date, unit: 'hour' | 'day'): Promise<UsageSums> => {
    const limits = await limitsIn(accounts, accountId);
    const now = clock.now();
    const recently = new Date(now.getTime() - recentMs);
    const [counts, sums, byKey, deprecated] = await Promise.all([
      counters.peek(`account:${accountId}`, now),
      usage.sum({ accountId }, since, unit),
      usage.sumByKey(accountId, since, unit),
      usage.callsTo(idsOf(endings), accountId, recently),
    ]);
    return { limits, windows: windowsOf(limits, counts, now), sums, byKey, deprecated };
  };

/** @throws DomainError `account_not_found` */
const limitsIn = async (accounts: AccessPorts['accounts'], accountId: string): Promise<Limits> => {
  const account = await accounts.find(accountId);
  if (!account) throw accountNotFound(accountId);
  return limitsOf(account.plan, account.ownLimits);
};

const idsOf = (endings: UsagePorts['endings']): readonly string[] =>
  endings.map(({ operation }) => operation);

type Ports = Pick<AccessPorts, 'accounts' | 'usage' | 'endings' | 'clock'>;

/** Warns an account that has used most of its daily quota. Any process may repeat the report. */
export const warnOfHighUse =
  ({ accounts, clock }: Pick<Ports, 'accounts' | 'clock'>) =>
  async ({ accountId, ...use }: HighUse & { readonly accountId: string }): Promise<void> => {
    await accounts.change(accountId, (account) => warnOfUse(account, use, clock.now()));
  };

export const removalsDueAt =
  ({ endings, clock }: Pick<Ports, 'endings' | 'clock'>) =>
  (): Promise<Date | undefined> => {
    const coming = endings.filter(({ removedAt }) => removedAt > clock.now());
    return Promise.resolve(earliest(coming.map(firstStepAt)));
  };

/** Warns accounts about operations that they called within the last 30 days and that will be removed soon. */
export const warnOfRemovals = (ports: Ports) => {
  const { accounts, usage, endings, clock } = ports;
  const stillCalls = async (accountId: string, { operation }: EndingOperation) => {
    const since = new Date(clock.now().getTime() - recentMs);
    return (await usage.callsTo([operation], accountId, since)).length > 0;
  };
  return async (isStopping: () => boolean): Promise<void> => {
    const near = endings.filter((one) => removalStep(one, clock.now()) !== undefined);
    if (near.length === 0) return;
    for (const account of await accounts.list()) {
      if (account.deletedAt) continue;
      for (const ending of near) {
        if (isStopping()) return;
        const isNews = warnOfRemoval(account, ending, clock.now()).events.length > 0;
        if (!isNews || !(await stillCalls(account.id, ending))) continue;
        await accounts.change(account.id, (one) => warnOfRemoval(one, ending, clock.now()));
      }
    }
  };
};
