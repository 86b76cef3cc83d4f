import { DomainError } from '../../kernel/domain-error.ts';
import type { AccessErrorCode } from './access-error.ts';

export const plans = ['free', 'pro', 'business', 'enterprise'] as const;
export type Plan = (typeof plans)[number];

/** How many requests pass in one UTC minute and in one UTC day. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** Enterprise: the default for accounts without custom limits. */
export const planLimits: Readonly<Record<Plan, Limits>> = {
  free: { perMinute: 60, perDay: 1000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1000, perDay: 100_000 },
  enterprise: { perMinute: 5000, perDay: 1_000_000 },
};

const largestLimit = 1_000_000_000;

/** @throws DomainError `account_invalid` when a plan without own numbers is given some, or a number is off */
export const checkedLimits = (plan: Plan, own: Limits | undefined): Limits | undefined => {
  if (!own) return undefined;
  if (plan !== 'enterprise') {
    throw invalid(`Only the plan enterprise has custom limits; those of ${plan} are fixed.`);
  }
  const wrong = [own.perMinute, own.perDay].find(
    (limit) => !Number.isInteger(limit) || limit < 1 || limit > largestLimit,
  );
  if (wrong !== undefined) {
    throw invalid(`A limit must be a whole number from 1 to ${String(largestLimit)}.`);
  }
  return own;
};

export const limitsOf = (plan: Plan, own: Limits | undefined): Limits => own ?? planLimits[plan];

const invalid = (message: string) => new DomainError<AccessErrorCode>('account_invalid', message);
