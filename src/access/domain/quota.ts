import type { AccessErrorCode } from './access-error.ts';
import { DomainError } from '../../kernel/decision.ts';

export const plans = ['free', 'pro', 'business', 'enterprise'] as const;
export type Plan = (typeof plans)[number];

export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** For enterprise, the default for accounts without custom limits. */
export const planLimits: Readonly<Record<Plan, Limits>> = {
  free: { perMinute: 60, perDay: 1000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1000, perDay: 100_000 },
  enterprise: { perMinute: 5000, perDay: 1_000_000 },
};

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

/** Limits agreed with one account. Those per minute and per day are agreed together. */
export interface Agreed {
  readonly requests?: Limits | undefined;
  readonly sites?: Partial<SiteLimits> | undefined;
}

const largest = { requests: 1_000_000_000, sites: 999_999 } as const;

/** @throws DomainError `account_invalid` if the plan does not allow custom limits, or a limit is out of range */
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

/** A request counts in both windows if both have room, and otherwise in neither. */
export const windowNames = ['minute', 'day'] as const;
export type WindowName = (typeof windowNames)[number];

export const windowSeconds: Readonly<Record<WindowName, number>> = { minute: 60, day: 86_400 };

/** Number of the window since 1970, so that all processes agree. */
export const windowIndex = (window: WindowName, now: Date): number =>
  Math.floor(now.getTime() / 1000 / windowSeconds[window]);

/** The count of a window and of the previously counted window. */
export interface WindowCount {
  readonly index: number;
  readonly count: number;
  readonly previous?: { readonly index: number; readonly count: number };
}

/** The clock may jump. No jump reopens a quota, and on return to the previous window its count continues. */
export const countIn = (kept: WindowCount | undefined, index: number): WindowCount => {
  if (!kept) return { index, count: 0 };
  if (kept.index === index) return kept;
  const { previous, ...left } = kept;
  const before = previous?.index === index ? previous.count : 0;
  const count = index > kept.index ? before : Math.max(before, kept.count);
  return { index, count, previous: left };
};

export type Counts = Readonly<Record<WindowName, number>>;

export interface WindowState {
  readonly window: WindowName;
  readonly limit: number;
  readonly remaining: number;
  /** On a UTC boundary, always after now. */
  readonly resetAt: Date;
}

export interface Verdict {
  readonly kind: 'allowed' | 'refused';
  readonly speaks: WindowState;
  readonly limits: Limits;
}

/** `speaks` is the window with the least quota left, or the day if both have the same. */
export const judge = (limits: Limits, counts: Counts, allowed: boolean, now: Date): Verdict => {
  const { minute, day } = windowsOf(limits, counts, now);
  const minuteSpeaks = minute.remaining < day.remaining;
  return {
    kind: allowed ? 'allowed' : 'refused',
    speaks: minuteSpeaks ? minute : day,
    limits,
  };
};

export const windowsOf = (
  limits: Limits,
  counts: Counts,
  now: Date,
): Readonly<Record<WindowName, WindowState>> => ({
  minute: stateOf('minute', limits.perMinute, counts.minute, now),
  day: stateOf('day', limits.perDay, counts.day, now),
});

const stateOf = (window: WindowName, limit: number, count: number, now: Date): WindowState => ({
  window,
  limit,
  remaining: Math.max(0, limit - count),
  resetAt: new Date((windowIndex(window, now) + 1) * windowSeconds[window] * 1000),
});

export interface HighUse {
  readonly level: (typeof highUseLevels)[number];
  readonly used: number;
  readonly limit: number;
  readonly resetsAt: Date;
}

export const highUseLevels = ['warning', 'reached'] as const;

const warnedFrom = 0.8;

export const highUseOf = ({ perDay }: Limits, counts: Counts, now: Date): HighUse | undefined => {
  if (counts.day < warnedFrom * perDay) return undefined;
  const { limit, remaining, resetAt } = stateOf('day', perDay, counts.day, now);
  const level = remaining === 0 ? 'reached' : 'warning';
  return { level, used: limit - remaining, limit, resetsAt: resetAt };
};

/** Whole seconds to wait, at least 1. */
export const secondsUntil = (then: Date, now: Date): number =>
  Math.max(1, Math.ceil((then.getTime() - now.getTime()) / 1000));
