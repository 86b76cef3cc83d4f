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

/** Of projects, custom domains and kept files. Undefined: what the plan allows. */
export interface SiteLimits {
  readonly projects: number | undefined;
  readonly domains: number | undefined;
  readonly storageGib: number | undefined;
}

export const noSiteLimits = {
  projects: undefined,
  domains: undefined,
  storageGib: undefined,
} as const satisfies SiteLimits;

/** What an operator agreed with one account. The requests of a minute and of a day are agreed together. */
export interface Agreed {
  readonly requests?: Limits | undefined;
  readonly sites?: Partial<SiteLimits> | undefined;
}

const largest = { requests: 1_000_000_000, sites: 999_999 } as const;

/** @throws DomainError `account_invalid` when a plan without own numbers is given some, or a number is off */
export const checkAgreed = (plan: Plan, { requests, sites }: Agreed): void => {
  const given = [
    ...numbersIn(requests).map((limit) => [limit, largest.requests] as const),
    ...numbersIn(sites).map((limit) => [limit, largest.sites] as const),
  ];
  if (given.length > 0 && plan !== 'enterprise') {
    throw invalid(`Only the plan enterprise has custom limits; those of ${plan} are fixed.`);
  }
  for (const [limit, most] of given) {
    if (!Number.isInteger(limit) || limit < 1 || limit > most) {
      throw invalid(`A limit must be a whole number from 1 to ${String(most)}.`);
    }
  }
};

const numbersIn = (limits: Limits | Partial<SiteLimits> = {}): readonly number[] =>
  Object.values<number | undefined>({ ...limits }).filter((limit) => limit !== undefined);

export const limitsOf = (plan: Plan, own: Limits | undefined): Limits => own ?? planLimits[plan];

const invalid = (message: string) => new DomainError<AccessErrorCode>('account_invalid', message);
