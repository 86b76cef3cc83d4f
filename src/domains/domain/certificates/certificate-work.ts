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

// Custom domains and the platform's names share this lifecycle; `terms` hold their differences.

export interface CertificateWork {
  readonly generation: number;
  readonly certificate: WantedCertificate | IssuedCertificate;
  readonly terms: CertificateTerms;
}

export interface Refusal {
  readonly failure: AuthorityFailure;
  readonly issuers: readonly string[];
}

export interface CertificateTerms {
  readonly key: string;
  readonly host: string;
  readonly also?: readonly string[];
  readonly payer: Pick<LedgerName, 'accountId' | 'registrableDomain'>;
  /** How budgets count its orders: the first one, later ones, and those already counted. */
  readonly kinds: {
    readonly first: OrderKind;
    readonly later: OrderKind;
    readonly counted: Extract<WantedAttempt['kind'], `${string}counted`>;
  };
  readonly mayIssue: readonly string[];
  readonly methodAt: (authority: string) => ValidationMethod;
  readonly label: string;
  readonly problemOf: (refusal: Refusal) => DnsProblem;
  readonly isOurs: boolean;
}

export interface WorkChange extends StoredWork {
  readonly work?: CertificateWork;
  readonly outcome: WorkOutcome;
}

export interface StoredWork {
  readonly ledger?: LedgerChange;
  readonly certificate?: Certificate;
  readonly endsOrder?: string;
}

interface FromAuthority {
  readonly authority: string;
}

export type WorkOutcome =
  | { readonly kind: 'unchanged' | 'begun' | 'processing' | 'unanswered' }
  | { readonly kind: 'counted'; readonly hold: Hold | undefined }
  | { readonly kind: 'held_up'; readonly hold: Hold }
  | ({ readonly kind: 'left' } & FromAuthority)
  | ({
      readonly kind: 'issued';
      readonly isRenewal: boolean;
      readonly notAfter: Date;
    } & FromAuthority)
  /** The certificate came too late and is destroyed with its key. */
  | ({ readonly kind: 'too_late'; readonly notAfter: Date } & FromAuthority)
  | ({
      readonly kind: 'failed';
      readonly failure: AuthorityFailure;
      readonly isLate: boolean;
    } & FromAuthority);

export const unchangedWork: WorkChange = { outcome: { kind: 'unchanged' } };

export const subjectUnder = (key: string, generation: number): string =>
  `${key}:${String(generation)}`;

export const subjectOf = ({ generation, terms }: CertificateWork): string =>
  subjectUnder(terms.key, generation);

type OrderedStep = Extract<RenewalWork, { readonly step: 'ordered' }>;

export const orderOf = ({ certificate: { work } }: CertificateWork): OrderedStep | undefined =>
  work.step === 'ordered' ? work : undefined;

export const orderedAt = (work: CertificateWork): string => orderOf(work)?.authority ?? '';

export const stillOrdered = (
  work: CertificateWork | undefined,
  ordered: CertificateWork,
): CertificateWork | undefined =>
  work && isOrdered(work) && subjectOf(work) === subjectOf(ordered) ? work : undefined;

export const choiceOf = (work: CertificateWork): Choice => ({
  mayIssue: work.terms.mayIssue,
  certificate: work.certificate,
});

export const entryOf = (ordered: CertificateWork): Omit<LedgerEntry, 'kind' | 'occurredAt'> => ({
  authority: orderedAt(ordered),
  host: ordered.terms.host,
  ...ordered.terms.payer,
  isManual: isManual(ordered),
  orderKey: subjectOf(ordered),
});

export const mayReplace = ({ certificate }: CertificateWork, authority: string): boolean =>
  certificate.kind === 'issued' && certificate.issuedBy === authority;

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

/** Postpones work that waits for an authority or a budget. Work that waits for anything else does not change. */
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
  readonly known: CertificateWork;
  readonly authority: string;
  readonly kind: OrderKind;
  readonly use: CaUse;
}

/** Starts and counts an order, if it is still wanted and within budget. Of concurrent workers, one succeeds. */
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

/** The worker died without storing the answer. The order may exist, so it counts, but cannot be continued. */
export const loseOrder = (
  work: CertificateWork | undefined,
  ordered: CertificateWork,
): WorkChange => {
  const current = stillOrdered(work, ordered);
  if (!current) return unchangedWork;
  const subject = subjectOf(current);
  return {
    work: withoutOrder(current),
    outcome: { kind: 'unanswered' },
    ledger: orderUnheardOf(subject),
    endsOrder: subject,
  };
};

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

export const takeOrderBack = (ordered: CertificateWork): WorkChange => ({
  ...unchangedWork,
  ledger: orderNotMade(subjectOf(ordered)),
});

export const countOrderAgain = (ordered: CertificateWork, use: CaUse, now: Date): WorkChange => {
  const kind = ordered.terms.kinds.later;
  const budget = mayOrder(use, { isManual: isManual(ordered), kind }, now);
  if (!budget.allowed) return { outcome: { kind: 'counted', hold: budget } };
  const ledger = orderAsked({ ...entryOf(ordered), kind, occurredAt: now });
  return { outcome: { kind: 'counted', hold: undefined }, ledger };
};
