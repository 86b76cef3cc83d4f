/** What happened within a window that ends now. */
export interface WindowUse {
  readonly used: number;
  /** When the first of them leaves the window, one more is free. */
  readonly oldestAt: Date | undefined;
}

/** What was asked of the authority lately, as the ledger counts it. */
export interface CaUse {
  /** Failed attempts of this host in an hour: those on schedule, and those that the owner asked for. */
  readonly automaticFailures: WindowUse;
  readonly manualFailures: WindowUse;
  /** New orders of all hosts in 3 hours. */
  readonly orders: WindowUse;
  /** Certificates in 7 days. */
  readonly registeredDomain: WindowUse;
  readonly exactName: WindowUse;
}

export interface Budget {
  /** So many may be used before we stop. */
  readonly stopAt: number;
  /** So many does the authority allow: https://letsencrypt.org/docs/rate-limits/. */
  readonly of: number;
  readonly windowMs: number;
}

const hour = 60 * 60_000;
const week = 7 * 24 * hour;

/** We stop before the authority does: at its limits it also counts what others ask for. */
export const caBudgets = {
  automaticFailures: { stopAt: 3, of: 5, windowMs: hour },
  manualFailures: { stopAt: 1, of: 5, windowMs: hour },
  orders: { stopAt: 250, of: 300, windowMs: 3 * hour },
  registeredDomain: { stopAt: 48, of: 50, windowMs: week },
  exactName: { stopAt: 4, of: 5, windowMs: week },
} as const satisfies Readonly<Record<keyof CaUse, Budget>>;

export type BudgetName = keyof CaUse;

export interface WantedAttempt {
  /** The owner asked for it. */
  readonly isManual: boolean;
  /**
   * `renewal`: it replaces a certificate and says so to the authority (RFC 9773, section 5). `own`: for a project's
   * own host; how many of these there may be a week is between the authority and whoever runs the platform.
   */
  readonly kind: 'new' | 'renewal' | 'own';
}

export type BudgetVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: BudgetName; readonly nextAt: Date };

/** Besides failures, which always mean that something is wrong. Renewals are exempt from the limits of the authority. */
const limitsOf: Readonly<Record<WantedAttempt['kind'], readonly BudgetName[]>> = {
  new: ['orders', 'registeredDomain', 'exactName'],
  renewal: [],
  own: ['orders'],
};

/** Whether the authority may be asked for a certificate now. */
export const mayOrder = (
  use: CaUse,
  { isManual, kind }: WantedAttempt,
  now: Date,
): BudgetVerdict => {
  const failures = isManual ? 'manualFailures' : 'automaticFailures';
  const names: readonly BudgetName[] = [failures, ...limitsOf[kind]];
  const spent = names
    .filter((name) => use[name].used >= caBudgets[name].stopAt)
    .map((reason) => ({ reason, nextAt: freeAt(use[reason], caBudgets[reason], now) }))
    .toSorted((one, other) => other.nextAt.getTime() - one.nextAt.getTime());
  return spent[0] ? { allowed: false, ...spent[0] } : { allowed: true };
};

/** For people: "2 of 5 failures used this hour, next attempt 14:12". */
export interface BudgetView {
  readonly used: number;
  readonly of: number;
  readonly windowMs: number;
  readonly nextAt: Date | undefined;
}

/** @param nextAt when the next attempt is planned, if one is */
export const describeBudget = (use: CaUse, nextAt: Date | undefined, now: Date): BudgetView => {
  const { of, windowMs } = caBudgets.automaticFailures;
  const verdict = mayOrder(use, { isManual: false, kind: 'new' }, now);
  const free = verdict.allowed ? undefined : verdict.nextAt;
  return {
    used: use.automaticFailures.used + use.manualFailures.used,
    of,
    windowMs,
    nextAt: nextAt && free && free > nextAt ? free : nextAt,
  };
};

/** Never further away than the window is long, also when the clock was set back since. */
const freeAt = ({ oldestAt }: WindowUse, { windowMs }: Budget, now: Date): Date => {
  const age = Math.max(0, now.getTime() - (oldestAt ?? now).getTime());
  return new Date(now.getTime() + Math.max(1000, windowMs - age));
};
