import type { Decision } from '../../kernel/decision.ts';
import { DomainError } from '../../kernel/domain-error.ts';
import { isLine } from '../../kernel/text.ts';
import type { AccessErrorCode } from './access-error.ts';
import type { AccountOpened, PlanChanged } from './access-event.ts';
import type { Plan } from './plan.ts';

/** One store. Everything else belongs to exactly one account. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** The owner's address, lower case; no two accounts have the same. */
  readonly email: string;
  readonly plan: Plan;
  readonly createdAt: Date;
}

/** @throws DomainError `account_invalid` */
export const openAccount = (
  draft: Omit<Account, 'createdAt'>,
  now: Date,
): Decision<Account, AccountOpened> => {
  const name = draft.name.trim();
  const email = draft.email.trim().toLowerCase();
  if (!isLine(name, 100)) {
    throw invalid('An account needs a name of 1 to 100 characters without control characters.');
  }
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) || email.length > 254) {
    throw invalid(`"${email}" is no e-mail address; write it like owner@shop.example.`);
  }
  return {
    state: { ...draft, name, email, createdAt: now },
    events: [{ type: 'account_opened', accountId: draft.id, occurredAt: now, plan: draft.plan }],
  };
};

/** A change to the same plan changes nothing. */
export const changePlan = (
  account: Account,
  plan: Plan,
  now: Date,
): Decision<Account, PlanChanged> =>
  account.plan === plan
    ? { state: account, events: [] }
    : {
        state: { ...account, plan },
        events: [
          {
            type: 'plan_changed',
            accountId: account.id,
            occurredAt: now,
            from: account.plan,
            to: plan,
          },
        ],
      };

const invalid = (message: string) => new DomainError<AccessErrorCode>('account_invalid', message);
