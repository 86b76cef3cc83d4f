import type { Decision } from '../../kernel/decision.ts';
import { DomainError } from '../../kernel/domain-error.ts';
import { isName } from '../../kernel/text.ts';
import type { AccessErrorCode } from './access-error.ts';
import type { AccessEvent } from './access-event.ts';
import { emailOf, isEmail } from './email.ts';
import {
  checkAgreed,
  limitsOf,
  noSiteLimits,
  type Agreed,
  type Limits,
  type Plan,
  type SiteLimits,
} from './plan.ts';
import type { HighUse } from './rate-quota.ts';

/** One store. Everything else belongs to exactly one account. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** The owner's address, lower case. */
  readonly email: string;
  readonly plan: Plan;
  /** Enterprise only: numbers agreed with this account. */
  readonly ownLimits: Limits | undefined;
  /** Enterprise only, as those. */
  readonly siteLimits: SiteLimits;
  readonly createdAt: Date;
  readonly warnings: Warnings;
}

/** An operation of the API that will be removed. */
export interface EndingOperation {
  readonly operation: string;
  readonly removedAt: Date;
}

/** What an account was told of its use, so that it is told once. */
export interface Warnings {
  /** Of the latest UTC day that it was told of. */
  readonly quota: Pick<HighUse, 'level' | 'resetsAt'> | undefined;
  /** Of each operation that ends, the last step told. */
  readonly removals: readonly (EndingOperation & { readonly step: number })[];
}

/** @throws DomainError `account_invalid` */
export const openAccount = (
  draft: Omit<Account, 'createdAt' | 'ownLimits' | 'siteLimits' | 'warnings'>,
  now: Date,
): Decision<Account, AccessEvent> => {
  const name = draft.name.trim();
  const email = emailOf(draft.email);
  if (!isName(name, 100)) {
    throw invalid(
      'An account needs a name of 1 to 100 characters, without control characters and direction marks.',
    );
  }
  if (!isEmail(email)) {
    throw invalid(`"${email}" is not an e-mail address; write it like owner@shop.example.`);
  }
  return {
    state: {
      ...draft,
      name,
      email,
      ownLimits: undefined,
      siteLimits: { ...noSiteLimits },
      createdAt: now,
      warnings: { quota: undefined, removals: [] },
    },
    events: [{ type: 'account_opened', accountId: draft.id, occurredAt: now, plan: draft.plan }],
  };
};

/** Asking for what is in force already changes nothing. @throws DomainError `account_invalid` */
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
