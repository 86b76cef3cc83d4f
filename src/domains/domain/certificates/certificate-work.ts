import {
  freshAttempts,
  type AuthorityFailure,
  isManual,
  isOrdered,
  type IssuedCertificate,
  type RenewalWork,
  type WantedCertificate,
} from './certificate-status.ts';
import { isLeft, turnAt, type Choice } from './authorities.ts';
import {
  mayOrder,
  type CaUse,
  type Hold,
  type OrderKind,
  type WantedAttempt,
  orderAsked,
  orderNotMade,
  orderUnheardOf,
  type LedgerChange,
  type LedgerEntry,
  type LedgerName,
} from './ca-budget.ts';
import type { Certificate } from './renewal.ts';
import type { DnsProblem } from '../dns/problem.ts';
import type { ValidationMethod } from '../dns/validation.ts';

// A custom domain has one life of a certificate, and so has each name of the platform: they differ in their terms, and in
// what else they store when the work changes.

/** A certificate that is wanted, and how far the work on it is. */
export interface CertificateWork {
  /** How many orders were begun. What comes of an older one is too late. */
  readonly generation: number;
  readonly certificate: WantedCertificate | IssuedCertificate;
  readonly terms: CertificateTerms;
}

/** Why an authority did not issue, and what a CAA record has to name to allow it; none: CAA does not matter to it. */
export interface Refusal {
  readonly failure: AuthorityFailure;
  readonly issuers: readonly string[];
}

/** What the owner of a name says about its certificate. */
export interface CertificateTerms {
  /** What its orders are kept under, without their number. */
  readonly key: string;
  readonly host: string;
  /** Further names of the same certificate. */
  readonly also?: readonly string[];
  /** Whom the ledger counts its orders for. */
  readonly payer: Pick<LedgerName, 'accountId' | 'registrableDomain'>;
  /** How the budgets count them: for the first certificate, for later ones, and once they are counted. */
  readonly kinds: {
    readonly first: OrderKind;
    readonly later: OrderKind;
    readonly counted: Extract<WantedAttempt['kind'], `${string}counted`>;
  };
  /** The names of the authorities that may be asked, the preferred one first; empty where that is not known. */
  readonly mayIssue: readonly string[];
  readonly methodAt: (authority: string) => ValidationMethod;
  /** The label of our zone that its challenge name leads to. */
  readonly label: string;
  /** What to show the owner; undefined: it is the platform's own name, and nobody else can help. */
  readonly problemOf: (refusal: Refusal) => DnsProblem | undefined;
  readonly isOurs: boolean;
}

export interface WorkChange extends StoredWork {
  /** Undefined: it stays as it is. */
  readonly work?: CertificateWork;
  readonly outcome: WorkOutcome;
}

/** What is stored with it. */
export interface StoredWork {
  readonly ledger?: LedgerChange;
  /** The certificate that serves it from now on. */
  readonly certificate?: Certificate;
  /** Subject of an order that has ended: it is deleted with its challenges and key. */
  readonly endsOrder?: string;
}

interface FromAuthority {
  readonly authority: string;
}

export type WorkOutcome =
  | { readonly kind: 'unchanged' | 'begun' | 'processing' | 'unanswered' }
  /** The order counts anew, unless it has to wait. */
  | { readonly kind: 'counted'; readonly hold: Hold | undefined }
  | { readonly kind: 'held_up'; readonly hold: Hold }
  | ({ readonly kind: 'left' } & FromAuthority)
  | ({
      readonly kind: 'issued';
      readonly isRenewal: boolean;
      readonly notAfter: Date;
    } & FromAuthority)
  /** The certificate came too late: it is destroyed with its key. */
  | ({ readonly kind: 'too_late'; readonly notAfter: Date } & FromAuthority)
  | ({
      readonly kind: 'failed';
      readonly failure: AuthorityFailure;
      /** Another worker has settled the order, or its name is gone. */
      readonly isLate: boolean;
    } & FromAuthority);

export const unchangedWork: WorkChange = { outcome: { kind: 'unchanged' } };

/** What an order is kept under: there is one for each generation. */
export const subjectUnder = (key: string, generation: number): string =>
  `${key}:${String(generation)}`;

export const subjectOf = ({ generation, terms }: CertificateWork): string =>
  subjectUnder(terms.key, generation);

type OrderedStep = Extract<RenewalWork, { readonly step: 'ordered' }>;

export const orderOf = ({ certificate: { work } }: CertificateWork): OrderedStep | undefined =>
  work.step === 'ordered' ? work : undefined;

/** Name of the authority that has its order; '' without one. */
export const orderedAt = (work: CertificateWork): string => orderOf(work)?.authority ?? '';

/** The work, if that very order is still under way. */
export const stillOrdered = (
  work: CertificateWork | undefined,
  ordered: CertificateWork,
): CertificateWork | undefined =>
  work && isOrdered(work) && subjectOf(work) === subjectOf(ordered) ? work : undefined;

/** What decides which authority its next attempt goes to. */
export const choiceOf = (work: CertificateWork): Choice => ({
  mayIssue: work.terms.mayIssue,
  certificate: work.certificate,
});

/** As the ledger counts its order. */
export const entryOf = (ordered: CertificateWork): Omit<LedgerEntry, 'kind' | 'occurredAt'> => ({
  ...{ authority: orderedAt(ordered), host: ordered.terms.host, ...ordered.terms.payer },
  ...{ isManual: isManual(ordered), orderKey: subjectOf(ordered) },
});

/** Whether its certificate is that authority's own, so that an order may say that it replaces it. */
export const mayReplace = ({ certificate }: CertificateWork, authority: string): boolean =>
  certificate.kind === 'issued' && certificate.issuedBy === authority;

/** How an order counts that the authority does not exempt. */
export const countedKind = ({ certificate, terms: { kinds } }: CertificateWork): OrderKind =>
  certificate.kind === 'issued' ? kinds.later : kinds.first;

export const wantedAttempt = (work: CertificateWork, authority: string): WantedAttempt => {
  const { certificate, terms } = work;
  const isExempt =
    certificate.kind === 'issued' && certificate.hasWindow && mayReplace(work, authority);
  const next = isExempt ? 'exempt' : countedKind(work);
  return { isManual: isManual(work), kind: isOrdered(work) ? terms.kinds.counted : next };
};

export const withStep = (work: CertificateWork, step: RenewalWork): CertificateWork => ({
  ...work,
  certificate: { ...work.certificate, work: step },
});

/** The authority is not ready, or a budget is used up. What waits for anything but time stays as it is. */
export const postponed = (work: CertificateWork, until: Date): CertificateWork => {
  const { work: step } = work.certificate;
  if (step.step !== 'planned' && step.step !== 'ordered') return work;
  return withStep(work, { ...step, at: turnAt(choiceOf(work), until) });
};

export const heldUp = (work: CertificateWork, hold: Hold): WorkChange => ({
  work: postponed(work, hold.nextAt),
  outcome: { kind: 'held_up', hold },
});

export const withoutOrder = (work: CertificateWork): CertificateWork => {
  const order = orderOf(work);
  if (!order) return work;
  const { at, attempts, problem } = order;
  return withStep(work, { step: 'planned', at, attempts, problem });
};

interface OrderClaim {
  /** As the worker knows it. */
  readonly known: CertificateWork;
  /** Name of the authority that is asked. */
  readonly authority: string;
  readonly kind: OrderKind;
  readonly use: CaUse;
}

/**
 * A new order begins and counts from now on, if it is still wanted and the budgets allow it. Of several workers who claim
 * it, one succeeds.
 */
export const claimOrder = (
  work: CertificateWork | undefined,
  { known, authority, kind, use }: OrderClaim,
  now: Date,
): WorkChange => {
  if (!work || isOrdered(work) || subjectOf(work) !== subjectOf(known)) return unchangedWork;
  const budget = mayOrder(use, { isManual: isManual(work), kind }, now);
  if (!budget.allowed) return heldUp(work, budget);
  const begun = orderBegun(work, authority, now);
  const ledger = orderAsked({ ...entryOf(begun), kind, occurredAt: now });
  return { work: begun, outcome: { kind: 'begun' }, ledger };
};

const orderBegun = (work: CertificateWork, authority: string, now: Date): CertificateWork => {
  const attempts = { ...(work.certificate.work.attempts ?? freshAttempts(now)), lastAt: now };
  const method = work.terms.methodAt(authority);
  const order = { authority, method, since: now, at: now, attempts, problem: undefined };
  const begun = withStep(work, { step: 'ordered', ...order });
  return postponed({ ...begun, generation: work.generation + 1 }, now);
};

/**
 * The worker that requested this order died before it stored the answer. The authority may have created an order that
 * cannot be continued: it counts, and the next attempt requests a new one.
 */
export const loseOrder = (
  work: CertificateWork | undefined,
  ordered: CertificateWork,
): WorkChange => {
  const current = stillOrdered(work, ordered);
  if (!current) return unchangedWork;
  const subject = subjectOf(current);
  return {
    ...{ work: withoutOrder(current), outcome: { kind: 'unanswered' } },
    ...{ ledger: orderUnheardOf(subject), endsOrder: subject },
  };
};

/**
 * The authority that has the order has not answered for long, so another one is asked. The first one may still issue, so
 * the order counts.
 */
export const leaveOrder = (
  work: CertificateWork | undefined,
  ordered: CertificateWork,
  now: Date,
): WorkChange => {
  const current = stillOrdered(work, ordered);
  if (!current || !isLeft(choiceOf(current), orderedAt(current), now)) return unchangedWork;
  return {
    work: withoutOrder(current),
    outcome: { kind: 'left', authority: orderedAt(current) },
    endsOrder: subjectOf(current),
  };
};

/** Before it is counted anew, so that it does not stand in its own way. */
export const takeOrderBack = (ordered: CertificateWork): WorkChange => ({
  ...unchangedWork,
  ledger: orderNotMade(subjectOf(ordered)),
});

/** The authority made no order, because it does not exempt it. The next one counts, if the budgets allow it. */
export const countOrderAgain = (ordered: CertificateWork, use: CaUse, now: Date): WorkChange => {
  const kind = ordered.terms.kinds.later;
  const budget = mayOrder(use, { isManual: isManual(ordered), kind }, now);
  if (!budget.allowed) return { outcome: { kind: 'counted', hold: budget } };
  const ledger = orderAsked({ ...entryOf(ordered), kind, occurredAt: now });
  return { outcome: { kind: 'counted', hold: undefined }, ledger };
};
