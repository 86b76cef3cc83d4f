import type { AccessErrorCode } from './access-error.ts';
import type { AccessEvent } from './access-event.ts';
import { emailOf, isEmail } from './person.ts';
import {
  type HighUse,
  highUseLevels,
  type Limits,
  limitsOf,
  type Plan,
  checkAgreed,
  noSiteLimits,
  type Agreed,
  type SiteLimits,
} from './quota.ts';
import { type Decision, DomainError } from '../../kernel/decision.ts';
import { isRestorable, restorableUntil, type Deletable } from '../../kernel/deletion.ts';
import { dayMs } from '../../kernel/durations.ts';
import { isName } from '../../kernel/text.ts';

export interface Account extends Deletable {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly plan: Plan;
  /** Only for enterprise: the limits that were agreed with this account. */
  readonly ownLimits: Limits | undefined;
  readonly siteLimits: SiteLimits;
  readonly createdAt: Date;
  readonly warnings: Warnings;
  readonly factorDemandedAt: Date | undefined;
}

export interface EndingOperation {
  readonly operation: string;
  readonly removedAt: Date;
}

export interface Warnings {
  readonly quota: Pick<HighUse, 'level' | 'resetsAt'> | undefined;
  readonly removals: readonly (EndingOperation & { readonly step: number })[];
}

/** @throws DomainError `account_invalid` */
export const openAccount = (
  draft: Omit<
    Account,
    'createdAt' | 'deletedAt' | 'ownLimits' | 'siteLimits' | 'warnings' | 'factorDemandedAt'
  >,
  now: Date,
): Decision<Account, AccessEvent> => {
  const name = accountName(draft.name);
  const email = emailOf(draft.email);
  if (!isEmail(email)) {
    throw invalid(`"${email}" is not an email address; write it like owner@shop.example.`);
  }
  return {
    state: {
      ...draft,
      name,
      email,
      ownLimits: undefined,
      siteLimits: { ...noSiteLimits },
      createdAt: now,
      deletedAt: undefined,
      warnings: { quota: undefined, removals: [] },
      factorDemandedAt: undefined,
    },
    events: [{ type: 'account_opened', accountId: draft.id, occurredAt: now, plan: draft.plan }],
  };
};

const accountName = (raw: string): string => {
  const name = raw.trim();
  if (isName(name, 100)) return name;
  throw invalid(
    'An account needs a name of 1 to 100 characters, without control characters and direction marks.',
  );
};

/** @throws DomainError `account_invalid` */
export const renameAccount = (
  account: Account,
  wanted: string,
  now: Date,
): Decision<Account, AccessEvent> => {
  const name = accountName(wanted);
  if (name === account.name) return { state: account, events: [] };
  const renamed = {
    type: 'account_renamed',
    accountId: account.id,
    occurredAt: now,
    name,
  } as const;
  return { state: { ...account, name }, events: [renamed] };
};

/** Takes the account out of service at once. Deleting a deleted account changes nothing. */
export const deleteAccount = (account: Account, now: Date): Decision<Account, AccessEvent> => {
  if (account.deletedAt) return { state: account, events: [] };
  const { id: accountId, name } = account;
  const told = { accountId, occurredAt: now, name, until: restorableUntil(now).toISOString() };
  return {
    state: { ...account, deletedAt: now },
    events: [{ type: 'account_deleted', ...told }],
  };
};

/** Restoring an account that is in service changes nothing. @throws DomainError `account_not_restorable` */
export const restoreAccount = (account: Account, now: Date): Decision<Account, AccessEvent> => {
  if (!account.deletedAt) return { state: account, events: [] };
  if (!isRestorable(account, now)) {
    const message = `${account.name} was deleted more than 7 days ago and cannot be restored.`;
    throw new DomainError<AccessErrorCode>('account_not_restorable', message);
  }
  return {
    state: { ...account, deletedAt: undefined },
    events: [{ type: 'account_restored', accountId: account.id, occurredAt: now }],
  };
};

/** Changes nothing if the plan and limits are already in force. @throws DomainError `account_invalid` */
export const changePlan = (
  account: Account,
  { plan, ...agreed }: { readonly plan: Plan } & Agreed,
  now: Date,
): Decision<Account, AccessEvent> => {
  checkAgreed(plan, agreed);
  const ownLimits = agreed.requests;
  const siteLimits = { ...noSiteLimits, ...agreed.sites };
  const [old, limits] = [limitsOf(account.plan, account.ownLimits), limitsOf(plan, ownLimits)];
  const same =
    account.plan === plan &&
    old.perMinute === limits.perMinute &&
    old.perDay === limits.perDay &&
    areSame(account.siteLimits, siteLimits);
  if (same) return { state: account, events: [] };
  const { id: accountId, plan: from } = account;
  const about = { from, to: plan, ...limits, ...given(siteLimits) };
  return {
    state: { ...account, plan, ownLimits, siteLimits },
    events: [{ type: 'plan_changed', accountId, occurredAt: now, ...about }],
  };
};

/** Changes nothing if the demand is unchanged. */
export const demandFactor = (
  account: Account,
  isDemanded: boolean,
  now: Date,
): Decision<Account, AccessEvent> => {
  if (isDemanded === (account.factorDemandedAt !== undefined))
    return { state: account, events: [] };
  const { id: accountId } = account;
  return {
    state: { ...account, factorDemandedAt: isDemanded ? now : undefined },
    events: [{ type: 'second_factor_demanded', accountId, occurredAt: now, isDemanded }],
  };
};

const areSame = (one: SiteLimits, other: SiteLimits): boolean =>
  one.projects === other.projects &&
  one.domains === other.domains &&
  one.storageGib === other.storageGib;

const given = ({ projects, domains, storageGib }: SiteLimits) => ({
  ...(projects !== undefined && { projects }),
  ...(domains !== undefined && { domains }),
  ...(storageGib !== undefined && { storageGib }),
});

const invalid = (message: string) => new DomainError<AccessErrorCode>('account_invalid', message);

type Warned = Decision<Account, AccessEvent>;

/**
 * Warns once a day for each level, and not of the lower level after the higher one. The use may be reported repeatedly.
 */
export const warnOfUse = (account: Account, use: HighUse, now: Date): Warned => {
  const { level, used, limit, resetsAt } = use;
  if (isTold(account.warnings.quota, use)) return { state: account, events: [] };
  const event = { accountId: account.id, occurredAt: now, used, limit };
  return {
    state: { ...account, warnings: { ...account.warnings, quota: { level, resetsAt } } },
    events: [{ type: `quota_${level}`, ...event, resetsAt: resetsAt.toISOString() }],
  };
};

const isTold = (told: Warnings['quota'], { level, resetsAt }: HighUse): boolean => {
  if (!told || told.resetsAt < resetsAt) return false;
  if (told.resetsAt > resetsAt) return true;
  return highUseLevels.indexOf(told.level) >= highUseLevels.indexOf(level);
};

/**
 * Warnings are remembered this long after the removal, so that a process whose clock is behind does not repeat them.
 */
const afterlifeMs = dayMs;
export const removalSteps = [1, 7, 30, 90] as const;

export const firstStepAt = ({ removedAt }: EndingOperation): Date =>
  new Date(removedAt.getTime() - Math.max(...removalSteps) * dayMs);

/**
 * The current step: 30 from 30 days before the removal until 7 days before.
 * @returns undefined before the first step and after the removal
 */
export const removalStep = ({ removedAt }: EndingOperation, now: Date): number | undefined => {
  const left = removedAt.getTime() - now.getTime();
  return left <= 0 ? undefined : removalSteps.find((days) => left <= days * dayMs);
};

/** Warns once for each step. An account that starts to call the operation between two steps is warned then. */
export const warnOfRemoval = (account: Account, ending: EndingOperation, now: Date): Warned => {
  const { operation, removedAt } = ending;
  const step = removalStep(ending, now);
  const { removals } = account.warnings;
  const told = removals.find((one) => one.operation === operation);
  if (step === undefined || (told && told.step <= step)) return { state: account, events: [] };
  const others = removals.filter(
    (one) => one !== told && one.removedAt.getTime() + afterlifeMs > now.getTime(),
  );
  const days = Math.ceil((removedAt.getTime() - now.getTime()) / dayMs);
  const event = { accountId: account.id, occurredAt: now, operation, days };
  return {
    state: {
      ...account,
      warnings: { ...account.warnings, removals: [...others, { operation, removedAt, step }] },
    },
    events: [{ type: 'operation_removal', ...event, removedAt: removedAt.toISOString() }],
  };
};
