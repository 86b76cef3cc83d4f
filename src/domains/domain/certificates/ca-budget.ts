import { keepsOrder, type OrderEnd, waitAfter } from './certificate-status.ts';
import { minuteMs, hourMs, dayMs, weekMs } from '../../../kernel/durations.ts';

export type Times = readonly Date[];

export interface CaUse {
  readonly automaticFailures: Times;
  readonly manualFailures: Times;
  /** Orders of all accounts, including those with a lost answer, without exempt ones. */
  readonly orders: Times;
  readonly accountOrders: Times;
  /** Certificates below this registrable domain, and for exactly this name, including open orders. */
  readonly registeredDomain: Times;
  readonly exactName: Times;
  readonly ownHosts: Times;
}

export type CaWindow = keyof CaUse;

export const caWindows = {
  /** Long enough for three failures at `ownHost` intervals. */
  automaticFailures: { lengthMs: 6 * hourMs, most: 5 },
  manualFailures: { lengthMs: hourMs, most: 5 },
  orders: { lengthMs: 3 * hourMs, most: 250 },
  accountOrders: { lengthMs: dayMs, most: 50 },
  registeredDomain: { lengthMs: weekMs, most: 48 },
  exactName: { lengthMs: weekMs, most: 4 },
  ownHosts: { lengthMs: weekMs, most: 20 },
} as const satisfies Readonly<Record<CaWindow, { lengthMs: number; most: number }>>;

export interface Budget {
  readonly counts: CaWindow;
  readonly stopAt: number;
  /** The authority's own limit: https://letsencrypt.org/docs/rate-limits/. Undefined for limits of our own. */
  readonly of: number | undefined;
  readonly windowMs: number;
}

/** We stop below the authority's limits, because other clients may count towards them. */
export const caBudgets = {
  automaticFailures: { counts: 'automaticFailures', stopAt: 3, of: 5, windowMs: hourMs },
  manualFailures: { counts: 'manualFailures', stopAt: 1, of: 5, windowMs: hourMs },
  ownHost: { counts: 'automaticFailures', stopAt: 1, of: undefined, windowMs: 100 * minuteMs },
  orders: { counts: 'orders', stopAt: 250, of: 300, windowMs: 3 * hourMs },
  newOrders: { counts: 'orders', stopAt: 200, of: undefined, windowMs: 3 * hourMs },
  /** Limits an account that ordered within the hour. The rest is for renewals and other accounts. */
  furtherOrders: { counts: 'orders', stopAt: 125, of: undefined, windowMs: 3 * hourMs },
  accountHour: { counts: 'accountOrders', stopAt: 10, of: undefined, windowMs: hourMs },
  accountDay: { counts: 'accountOrders', stopAt: 50, of: undefined, windowMs: dayMs },
  registeredDomain: { counts: 'registeredDomain', stopAt: 48, of: 50, windowMs: weekMs },
  exactName: { counts: 'exactName', stopAt: 4, of: 5, windowMs: weekMs },
  ownHosts: { counts: 'ownHosts', stopAt: 20, of: undefined, windowMs: weekMs },
} as const satisfies Readonly<Record<string, Budget>>;

export type BudgetName = keyof typeof caBudgets;

export const sharedBudgets = (Object.keys(caBudgets) as BudgetName[]).filter(
  (name) => caBudgets[name].counts === 'orders',
);

export const budgetsLeft = (orders: Times, now: Date) =>
  sharedBudgets.map((budget) => {
    const { stopAt: size, windowMs } = caBudgets[budget];
    const used = orders.filter((at) => leavesAt(at, windowMs, now)).length;
    return { budget, size, left: Math.max(0, size - used) };
  });

const standsBackMs = hourMs;

/**
 * `new` and `renewal`: for custom domains; `renewal` also for the platform's pair. `own` and `own_renewal`: for
 * projects' own hosts. `exempt`: a renewal that names its predecessor, which no limit counts (RFC 9773, section 5).
 */
export type OrderKind = 'new' | 'renewal' | 'own' | 'own_renewal' | 'exempt';

export interface WantedAttempt {
  readonly isManual: boolean;
  /** `counted`, `own_counted`: work on an order that is already counted. */
  readonly kind: OrderKind | 'counted' | 'own_counted';
}

export interface Hold {
  readonly reason: BudgetName;
  readonly nextAt: Date;
}

export type BudgetVerdict = { readonly allowed: true } | ({ readonly allowed: false } & Hold);

const share = ['newOrders', 'furtherOrders', 'accountHour', 'accountDay'] as const;
const ofNames = ['registeredDomain', 'exactName'] as const;

const limitsOf: Readonly<Record<WantedAttempt['kind'], readonly BudgetName[]>> = {
  new: [...share, ...ofNames],
  renewal: ['orders', ...ofNames],
  own: ['ownHost', ...share, 'ownHosts'],
  own_renewal: ['ownHost', 'orders'],
  exempt: [],
  counted: [],
  own_counted: ['ownHost'],
};

export const mayOrder = (
  use: CaUse,
  { isManual, kind }: WantedAttempt,
  now: Date,
): BudgetVerdict => {
  const failures = isManual ? 'manualFailures' : 'automaticFailures';
  const names: readonly BudgetName[] = [failures, ...limitsOf[kind]];
  const [longest] = names
    .flatMap((reason) => {
      const nextAt = spentUntil(reason, use, now);
      return nextAt ? [{ reason, nextAt }] : [];
    })
    .toSorted((one, other) => other.nextAt.getTime() - one.nextAt.getTime());
  return longest ? { allowed: false, ...longest } : { allowed: true };
};

const spentUntil = (name: BudgetName, use: CaUse, now: Date): Date | undefined => {
  const { counts, stopAt, windowMs } = caBudgets[name];
  const pauseMs = Math.min(waitAfter(use[counts].length), windowMs);
  if (name === 'ownHost') return leavesAt(use[counts][0], pauseMs, now);
  const spent = leavesAt(use[counts][stopAt - 1], windowMs, now);
  if (name !== 'furtherOrders' || !spent) return spent;
  const standsBack = leavesAt(use.accountOrders[0], standsBackMs, now);
  return standsBack && standsBack < spent ? standsBack : standsBack && spent;
};

const leavesAt = (at: Date | undefined, windowMs: number, now: Date): Date | undefined => {
  if (!at) return undefined;
  const age = Math.max(0, now.getTime() - at.getTime());
  return age < windowMs ? new Date(now.getTime() + Math.max(1000, windowMs - age)) : undefined;
};

/** "2 of 5 failures used this hour, next attempt 14:12". */
export interface BudgetView {
  readonly used: number;
  readonly of: number;
  readonly windowMs: number;
  readonly nextAt: Date | undefined;
  readonly heldUpBy: Hold | undefined;
}

export const describeBudget = (
  use: CaUse,
  wanted: WantedAttempt,
  nextAt: Date | undefined,
  now: Date,
): BudgetView => {
  const { of, windowMs } = caBudgets.automaticFailures;
  const verdict = mayOrder(use, wanted, now);
  const heldUpBy =
    verdict.allowed || !nextAt || verdict.nextAt < nextAt
      ? undefined
      : { reason: verdict.reason, nextAt: verdict.nextAt };
  return {
    used: [...use.automaticFailures, ...use.manualFailures].filter((at) =>
      leavesAt(at, windowMs, now),
    ).length,
    of,
    windowMs,
    nextAt: heldUpBy?.nextAt ?? nextAt,
    heldUpBy,
  };
};

export const budgetWords: Readonly<Record<BudgetName, string>> = {
  automaticFailures: 'failed automatic attempts of one name in an hour',
  manualFailures: 'failed attempts of one name in an hour that you requested',
  ownHost: "failed attempts of a project's own host before a pause of 1, then 10, then 100 minutes",
  orders: 'orders of this service in 3 hours',
  newOrders: 'orders of this service in 3 hours; the rest is kept for renewals',
  furtherOrders:
    'orders of this service in 3 hours; the rest is kept for renewals and for accounts that have ordered ' +
    'nothing within the hour',
  accountHour: 'new certificates for one account in an hour',
  accountDay: 'new certificates for one account in 24 hours',
  registeredDomain: 'certificates below one registered domain in 7 days',
  exactName: 'certificates for exactly one name in 7 days',
  ownHosts:
    "new certificates for projects' own hosts in 7 days, while the platform has none for all of them",
};

/** "10 new certificates for one account in an hour" */
export const limitInWords = (name: BudgetName): string =>
  `${String(caBudgets[name].stopAt)} ${budgetWords[name]}`;

export interface LedgerName {
  readonly authority: string;
  readonly accountId: string;
  readonly host: string;
  readonly registrableDomain: string;
}

/**
 * `order`: for a name without a certificate. `issued`: a certificate, or an order that may become one. `own`: the
 * same for a project's own host. An exempt order is a `renewal` until the authority has confirmed it.
 */
export const ledgerKinds = ['order', 'renewal', 'failure', 'issued', 'own'] as const;

/** A request that the authority received, or may have received. */
export interface LedgerEntry extends LedgerName {
  readonly kind: (typeof ledgerKinds)[number];
  readonly orderKey: string;
  readonly isManual: boolean;
  readonly occurredAt: Date;
}

export type AskedOrder = Omit<LedgerEntry, 'kind'> & { readonly kind: OrderKind };

export interface LedgerChange {
  readonly freed?: readonly Pick<LedgerEntry, 'kind' | 'orderKey'>[];
  readonly entered?: readonly LedgerEntry[];
}

export type FailedEnd = Exclude<OrderEnd, { kind: 'issued' }>;

const enteredAs = {
  new: ['order', 'issued'],
  renewal: ['renewal', 'issued'],
  exempt: ['renewal', 'issued'],
  own: ['order', 'own'],
  own_renewal: ['renewal'],
} as const satisfies Readonly<Record<OrderKind, readonly LedgerEntry['kind'][]>>;

const brought = ['issued', 'own'] as const;

/** Stored before the request. The order counts until it is certain that it does not exist. */
export const orderAsked = (order: AskedOrder): LedgerChange => ({
  entered: enteredAs[order.kind].map((kind) => ({ ...order, kind })),
});

/** The authority was certainly not asked, or created no order. */
export const orderNotMade = (orderKey: string): LedgerChange =>
  freed(orderKey, 'order', 'renewal', ...brought);

/** The authority may have created the order, but its URL is lost, so it cannot become a certificate. */
export const orderUnheardOf = (orderKey: string): LedgerChange => freed(orderKey, ...brought);

export const orderExempted = (orderKey: string): LedgerChange => freed(orderKey, 'renewal');

export const orderEnded = (
  { orderKey, ...name }: Omit<LedgerEntry, 'kind' | 'occurredAt'>,
  end: OrderEnd,
  now: Date,
): LedgerChange => {
  const entry = { ...name, orderKey, occurredAt: now };
  if (end.kind === 'issued') {
    return { ...freed(orderKey, 'issued'), entered: [{ ...entry, kind: 'issued' }] };
  }
  const { reason } = end.failure;
  const entered = keepsOrder(reason) ? [] : [{ ...entry, kind: 'failure' as const }];
  if (end.kind === 'failed')
    return { ...(endsForSure(reason) && freed(orderKey, ...brought)), entered };
  return { ...(end.counts ? orderUnheardOf(orderKey) : orderNotMade(orderKey)), entered };
};

/** Only the ledger knows these attempts, so every failure that may count delays the next one. */
export const ownOrderFailed = (
  name: Omit<LedgerEntry, 'kind' | 'occurredAt'>,
  end: FailedEnd,
  now: Date,
): LedgerChange => {
  const ended = orderEnded(name, end, now);
  const mayCount =
    end.failure.reason === 'rate_limited' || (end.kind === 'not_placed' && end.counts);
  return mayCount ? { ...ended, entered: [{ ...name, kind: 'failure', occurredAt: now }] } : ended;
};

export const isOver = (end: FailedEnd): boolean =>
  end.kind === 'not_placed' || !keepsOrder(end.failure.reason);

const endsForSure = (reason: Parameters<typeof keepsOrder>[0]): boolean =>
  !keepsOrder(reason) && reason !== 'order_gone';

const freed = (orderKey: string, ...kinds: readonly LedgerEntry['kind'][]) => ({
  freed: kinds.map((kind) => ({ kind, orderKey })),
});
