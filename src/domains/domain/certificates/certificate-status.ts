import {
  type Certificate,
  makesSense,
  pauseBetweenQuestions,
  type RenewalSpan,
  type Validity,
  wishedRenewalTime,
} from './renewal.ts';
import type { DnsProblem } from '../dns/problem.ts';
import type { ValidationMethod } from '../dns/validation.ts';
import { minuteMs, dayMs } from '../../../kernel/durations.ts';

/** Stored before the authority is asked, so that the order can always be continued. */
export interface CertificateOrder {
  readonly host: string;
  readonly also?: readonly string[] | undefined;
  readonly url: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  readonly method: ValidationMethod;
}

/** The answer to a challenge, in the form of each method. */
export interface ChallengeAnswer {
  /** Over HTTP, `keyAuthorization` is found under `/.well-known/acme-challenge/<token>`. */
  readonly token: string;
  readonly keyAuthorization: string;
  /** For the TXT record at the target of `_acme-challenge.<host>`. */
  readonly textValue: string;
}

export type OrderState =
  /**
   * Publish the answers by the method of the order, then call `prove`. `challengeUrl` belongs to the first one. A name
   * and its wildcard share the name of the TXT record, with one value each (RFC 8555, section 8.4).
   */
  | {
      readonly kind: 'challenge';
      readonly answers: readonly [ChallengeAnswer, ...ChallengeAnswer[]];
      readonly challengeUrl: string;
    }
  | { readonly kind: 'processing'; readonly askAgainAfterMs: number }
  | { readonly kind: 'ready' }
  | { readonly kind: 'issued'; readonly certificate: Certificate }
  | { readonly kind: 'failed'; readonly failure: AuthorityFailure };

export type OrderEnd =
  | Extract<OrderState, { readonly kind: 'issued' | 'failed' }>
  | {
      readonly kind: 'not_placed';
      readonly failure: AuthorityFailure;
      readonly counts: boolean;
    };

/** RFC 8555, section 6.7. */
export interface AuthorityFailure {
  readonly reason: AuthorityFailureReason;
  readonly detail: string;
  readonly retryAt: Date | undefined;
}

export const authorityFailureReasons = [
  'order_gone',
  'rate_limited',
  'unavailable',
  'rejected_name',
  'caa',
  'dns',
  'challenge',
] as const;
export type AuthorityFailureReason = (typeof authorityFailureReasons)[number];

export interface AuthorityTurn {
  /** Since when it has not answered, or has asked us to wait. */
  readonly awaySince: Date | undefined;
  readonly retryAt: Date | undefined;
}

export interface Attempts {
  readonly failed: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly isManual: boolean;
  readonly retryAt: Date | undefined;
  readonly turns: Readonly<Record<string, AuthorityTurn>>;
  readonly lastBy: string | undefined;
  /** The validation method, if the authority did not find the proof last time. */
  readonly unproven: ValidationMethod | undefined;
}

export const freshAttempts = (now: Date): Attempts => ({
  failed: 0,
  firstAt: now,
  lastAt: now,
  isManual: false,
  retryAt: undefined,
  turns: {},
  lastBy: undefined,
  unproven: undefined,
});

export type NextAttempt =
  | { readonly kind: 'at'; readonly at: Date }
  | { readonly kind: 'waits_for_dns' }
  | { readonly kind: 'waits_for_owner' };

/** Waits after the first failures, as in Let's Encrypt's integration guide; then a day. */
const waits = [minuteMs, 10 * minuteMs, 100 * minuteMs];

/** After that, only the owner can retry. */
export const longestTryingMs = 30 * dayMs;

export const waitAfter = (failed: number): number =>
  failed === 0 ? 0 : (waits[failed - 1] ?? dayMs);

/** An expired order is retried at once, but several in a row get a pause. */
const waitForAnother = (failed: number): number => (failed <= 1 ? 0 : minuteMs);

export const nextAttempt = (
  { failed, firstAt }: Pick<Attempts, 'failed' | 'firstAt'>,
  { reason, retryAt }: Pick<AuthorityFailure, 'reason' | 'retryAt'>,
  now: Date,
): NextAttempt => {
  const wait = reason === 'order_gone' ? waitForAnother(failed) : waitAfter(failed);
  const isOver = now.getTime() - firstAt.getTime() + wait > longestTryingMs;
  if (isOver || reason === 'rejected_name') return { kind: 'waits_for_owner' };
  if (reason === 'caa') return { kind: 'waits_for_dns' };
  return { kind: 'at', at: new Date(Math.max(now.getTime() + wait, retryAt?.getTime() ?? 0)) };
};

export type CertificateStatus = NoCertificate | WantedCertificate | IssuedCertificate;

export interface NoCertificate {
  readonly kind: 'none';
}

export interface WantedCertificate {
  readonly kind: 'wanted';
  readonly work: WantedWork;
}

export interface IssuedCertificate extends Validity {
  readonly kind: 'issued';
  readonly work: RenewalWork;
  readonly askRenewalAt: Date | undefined;
  readonly issuedBy: string;
  /** The authority named a window, so renewals within it are exempt. */
  readonly hasWindow: boolean;
}

export type WantedWork =
  | RenewalWork
  | {
      readonly step: 'waits_for_owner';
      readonly attempts: Attempts;
      readonly problem: DnsProblem;
    };

/** Renewals never wait for the owner, because a live domain has no retry button. */
export type RenewalWork =
  | {
      readonly step: 'planned';
      readonly at: Date;
      readonly attempts: Attempts | undefined;
      readonly problem: DnsProblem | undefined;
    }
  | {
      readonly step: 'ordered';
      readonly authority: string;
      readonly method: ValidationMethod;
      readonly since: Date;
      readonly at: Date;
      readonly attempts: Attempts;
      readonly problem: DnsProblem | undefined;
    }
  | {
      readonly step: 'waits_for_dns';
      readonly attempts: Attempts | undefined;
      readonly problem: DnsProblem;
    };

export type PlannedWork = Extract<RenewalWork, { readonly step: 'planned' }>;

export const planned = (at: Date): PlannedWork => ({
  step: 'planned',
  at,
  attempts: undefined,
  problem: undefined,
});

export const plannedByOwner = (work: WantedWork, now: Date): WantedWork => {
  const { turns = {}, lastBy, unproven } = work.attempts ?? {};
  const attempts = { ...freshAttempts(now), turns, lastBy, unproven, isManual: true };
  const planned = { at: now, attempts, problem: undefined };
  return work.step === 'ordered' ? { ...work, ...planned } : { step: 'planned', ...planned };
};

interface Certifiable {
  readonly certificate: CertificateStatus;
}

export const workOn = ({ certificate }: Certifiable): WantedWork | undefined =>
  certificate.kind === 'none' ? undefined : certificate.work;

export const isOrdered = (domain: Certifiable): boolean => workOn(domain)?.step === 'ordered';

export const isManual = (domain: Certifiable): boolean =>
  workOn(domain)?.attempts?.isManual ?? false;

export const isRenewal = ({ certificate }: Certifiable): boolean => certificate.kind === 'issued';

export const nextStepAt = (work: WantedWork): Date | undefined => {
  switch (work.step) {
    case 'planned':
    case 'ordered':
      return work.at;
    case 'waits_for_dns':
    case 'waits_for_owner':
      return undefined;
  }
};

/** A certificate stays `issued` during its renewal. */
export const statusOf = (
  certificate: CertificateStatus,
): 'none' | 'issuing' | 'issued' | 'failed' => {
  switch (certificate.kind) {
    case 'none':
    case 'issued':
      return certificate.kind;
    case 'wanted':
      return certificate.work.problem ? 'failed' : 'issuing';
  }
};

export const latest = (...dates: readonly (Date | undefined)[]): Date =>
  new Date(Math.max(...dates.map((date) => date?.getTime() ?? 0)));

export const restedAt = (certificate: WantedCertificate | IssuedCertificate): Date => {
  const { attempts } = certificate.work;
  const lastAt = attempts?.lastAt ?? new Date(0);
  const wait = Math.min(waitAfter(attempts?.failed ?? 0), longestWait(certificate, lastAt));
  return new Date(lastAt.getTime() + wait);
};

/** Longest wait between two attempts. Renewals must finish before the certificate ends. */
export const longestWait = (certificate: CertificateStatus, now: Date): number =>
  certificate.kind === 'issued' ? longestRetryWait(certificate, now) : Infinity;

/** After these failures the order is still valid and costs nothing to continue. */
export const keepsOrder = (reason: AuthorityFailureReason): boolean =>
  reason === 'unavailable' || reason === 'rate_limited';

/** Allows at least ten attempts before the certificate ends. Afterwards attempts become rare again. */
export const longestRetryWait = ({ notAfter }: Validity, now: Date): number =>
  Math.max(minuteMs, Math.abs(notAfter.getTime() - now.getTime()) / 20);

/** A cap, so that a clock change cannot block the question forever. */
const longestRestMs = 24 * 60 * 60_000;

/** RFC 9773, section 4.3. A renewal in progress needs no window. */
export const mayAskFor = ({ work, askRenewalAt }: IssuedCertificate, now: Date): boolean => {
  if (work.attempts) return false;
  const rest = (askRenewalAt?.getTime() ?? 0) - now.getTime();
  return rest <= 0 || rest > longestRestMs;
};

export const askedForAt = ({ work, askRenewalAt }: IssuedCertificate): Date | undefined =>
  work.attempts ? undefined : (askRenewalAt ?? new Date(0));

/** `chance` from 0 to 1 picks a moment in the window. */
export interface RenewalAnswer {
  readonly window: (RenewalSpan & { readonly askAgainAt: Date }) | 'silent' | undefined;
  readonly chance: number;
}

export interface RenewalPlan<Status> {
  readonly certificate: Status;
  readonly verdict: 'planned' | 'unchanged' | 'makes_no_sense';
}

export const planRenewal = <Status extends CertificateStatus>(
  certificate: Status,
  { window, chance }: RenewalAnswer,
  now: Date,
): RenewalPlan<Status | IssuedCertificate> => {
  if (certificate.kind !== 'issued' || certificate.work.attempts)
    return { certificate, verdict: 'unchanged' };
  const otherwise = new Date(now.getTime() + pauseBetweenQuestions(certificate, now));
  if (!window || window === 'silent') {
    // The authority may have stopped offering windows, and then counts renewals.
    const hasWindow = window === 'silent' && certificate.hasWindow;
    const none = { ...certificate, askRenewalAt: otherwise, hasWindow };
    return { certificate: none, verdict: 'unchanged' };
  }
  const asked = { ...certificate, askRenewalAt: window.askAgainAt };
  if (!makesSense(window, certificate)) return { certificate: asked, verdict: 'makes_no_sense' };
  const at = wishedRenewalTime(certificate, window, chance);
  // A renewal that waits for the DNS is already due.
  const work: RenewalWork =
    certificate.work.step === 'planned' ? { ...certificate.work, at } : certificate.work;
  return { certificate: { ...asked, work, hasWindow: true }, verdict: 'planned' };
};
