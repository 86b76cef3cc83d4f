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

/** What must be stored before the authority is asked, so that the order can always be continued. */
export interface CertificateOrder {
  readonly host: string;
  /** Further names of the same certificate. */
  readonly also?: readonly string[] | undefined;
  readonly url: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  readonly method: ValidationMethod;
}

/** The state of an order, as the authority reports it. */
export type OrderState =
  /** Publish `keyAuthorization` under `/.well-known/acme-challenge/<token>`, then say so with `prove`. */
  | {
      readonly kind: 'challenge';
      readonly method: 'http-01';
      readonly token: string;
      readonly keyAuthorization: string;
      readonly challengeUrl: string;
    }
  /**
   * Publish all `values` as TXT records where `_acme-challenge.<host>` leads, then say so with `prove`. A name and its
   * wildcard have the same challenge name, with a value each (RFC 8555, section 8.4).
   */
  | {
      readonly kind: 'challenge';
      readonly method: 'dns-01';
      readonly values: readonly string[];
      readonly challengeUrl: string;
    }
  /** The authority works on it; ask again, but not before. */
  | { readonly kind: 'processing'; readonly askAgainAfterMs: number }
  | { readonly kind: 'ready' }
  | { readonly kind: 'issued'; readonly certificate: Certificate }
  | { readonly kind: 'failed'; readonly failure: AuthorityFailure };

/** The end of an order, or of a request for one. */
export type OrderEnd =
  | Extract<OrderState, { readonly kind: 'issued' | 'failed' }>
  | {
      readonly kind: 'not_placed';
      readonly failure: AuthorityFailure;
      /** The authority may have made an order all the same, or may count that it was asked. */
      readonly counts: boolean;
    };

/** Why an authority did not do what it was asked (RFC 8555, section 6.7). */
export interface AuthorityFailure {
  readonly reason: AuthorityFailureReason;
  /** In the authority's own words. */
  readonly detail: string;
  /** The authority asked us not to retry before then. */
  readonly retryAt: Date | undefined;
}

export const authorityFailureReasons = [
  /** The order cannot be continued: it expired, is unknown, or belongs to another account. */
  'order_gone',
  'rate_limited',
  /** Down, silent, failing, or its answer is malformed. */
  'unavailable',
  /** It will never issue for this name. */
  'rejected_name',
  'caa',
  /** Its resolvers could not find the host, or failed. */
  'dns',
  /** It could not reach the host, or got another answer than wanted. */
  'challenge',
] as const;
export type AuthorityFailureReason = (typeof authorityFailureReasons)[number];

/** What one authority said to attempts at a certificate, since the last one that was issued. */
export interface AuthorityTurn {
  /** Since when it has not answered, or has told us to wait. */
  readonly awaySince: Date | undefined;
  /** It asked us not to retry before then. */
  readonly retryAt: Date | undefined;
}

/** The attempts at one certificate: since the domain was verified, the owner asked again, or the last one was issued. */
export interface Attempts {
  readonly failed: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** The owner requested the current or next one. */
  readonly isManual: boolean;
  /** An authority asked us not to retry before then. */
  readonly retryAt: Date | undefined;
  /** By the names of the authorities that failed. */
  readonly turns: Readonly<Record<string, AuthorityTurn>>;
  /** The authority that failed last. */
  readonly lastBy: string | undefined;
  /** How the name was proven when the last one failed because the authority did not find the proof. */
  readonly unproven: ValidationMethod | undefined;
}

export const freshAttempts = (now: Date): Attempts => ({
  ...{ failed: 0, firstAt: now, lastAt: now },
  ...{ isManual: false, retryAt: undefined, turns: {}, lastBy: undefined, unproven: undefined },
});

export type NextAttempt =
  | { readonly kind: 'at'; readonly at: Date }
  /** Only a change of the DNS can help. */
  | { readonly kind: 'waits_for_dns' }
  /** Only the owner can help. */
  | { readonly kind: 'waits_for_owner' };

const minute = 60_000;
const day = 24 * 60 * minute;

/** Waits after the first failures (the integration guide of Let's Encrypt); afterwards it is a day. */
const waits = [minute, 10 * minute, 100 * minute];

/** After that, only the owner can retry. */
export const longestTryingMs = 30 * day;

export const waitAfter = (failed: number): number =>
  failed === 0 ? 0 : (waits[failed - 1] ?? day);

/** An expired order is retried immediately; an authority that loses several in a row gets a pause. */
const waitForAnother = (failed: number): number => (failed <= 1 ? 0 : minute);

/** @param attempts with the failed one */
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

/** Whether a domain has a certificate, and how far the work on the next one is. */
export type CertificateStanding = NoCertificate | WantedCertificate | IssuedCertificate;

export interface NoCertificate {
  readonly kind: 'none';
}

/** The first one is being obtained. */
export interface WantedCertificate {
  readonly kind: 'wanted';
  readonly work: WantedWork;
}

/** There is one, and `work` renews it. */
export interface IssuedCertificate extends Validity {
  readonly kind: 'issued';
  readonly work: RenewalWork;
  /** Do not ask for the renewal window again before then (RFC 9773, section 4.3). */
  readonly askRenewalAt: Date | undefined;
  /** Name of the authority. */
  readonly issuedBy: string;
  /** The authority has named a window, and so counts no order within it. */
  readonly hasWindow: boolean;
}

/** `problem` is why the last attempt failed. `attempts` is undefined before the first one. */
export type WantedWork =
  | RenewalWork
  /** Only the owner can help. */
  | {
      readonly step: 'waits_for_owner';
      readonly attempts: Attempts;
      readonly problem: DnsProblem;
    };

/** Renewals never wait for the owner, because a live domain has no button to retry. */
export type RenewalWork =
  /** The next attempt is at that time. */
  | {
      readonly step: 'planned';
      readonly at: Date;
      readonly attempts: Attempts | undefined;
      readonly problem: DnsProblem | undefined;
    }
  /** An order is under way; it is always continued, and no second one begins. The next look is at that time. */
  | {
      readonly step: 'ordered';
      /** Name of the authority that has the order. */
      readonly authority: string;
      /** How the name is proven, whatever the DNS says meanwhile. */
      readonly method: ValidationMethod;
      /** When it was begun. */
      readonly since: Date;
      readonly at: Date;
      readonly attempts: Attempts;
      readonly problem: DnsProblem | undefined;
    }
  /** The next attempt comes once the DNS is correct. */
  | {
      readonly step: 'waits_for_dns';
      readonly attempts: Attempts | undefined;
      readonly problem: DnsProblem;
    };

export type PlannedWork = Extract<RenewalWork, { readonly step: 'planned' }>;

export const planned = (at: Date): PlannedWork => ({
  ...{ step: 'planned', at },
  ...{ attempts: undefined, problem: undefined },
});

/** A new attempt that the owner asked for; an order under way is continued. */
export const plannedByOwner = (work: WantedWork, now: Date): WantedWork => {
  // What was learned of the authorities stays true.
  const { turns = {}, lastBy, unproven } = work.attempts ?? {};
  const attempts = { ...freshAttempts(now), turns, lastBy, unproven, isManual: true };
  const planned = { at: now, attempts, problem: undefined };
  return work.step === 'ordered' ? { ...work, ...planned } : { step: 'planned', ...planned };
};

interface Certifiable {
  readonly certificate: CertificateStanding;
}

export const workOn = ({ certificate }: Certifiable): WantedWork | undefined =>
  certificate.kind === 'none' ? undefined : certificate.work;

export const isOrdered = (domain: Certifiable): boolean => workOn(domain)?.step === 'ordered';

/** The owner requested the current or next attempt. */
export const isManual = (domain: Certifiable): boolean =>
  workOn(domain)?.attempts?.isManual ?? false;

/** Work on its certificate renews the one that it has. Anything else counts as a new certificate. */
export const isRenewal = ({ certificate }: Certifiable): boolean => certificate.kind === 'issued';

/** Its authority says when to renew, and charges nothing for it (RFC 9773). */
export const hasRenewalPlan = ({ certificate }: Certifiable): boolean =>
  certificate.kind === 'issued' && certificate.hasWindow;

/** When to attempt, or to look at the order; undefined if something else has to happen before. */
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

/** In a word. It stays `issued` while a renewal is under way. */
export const statusOf = (
  certificate: CertificateStanding,
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

/** Earliest time of the next attempt at any authority, even when the DNS is correct sooner. */
export const restedAt = (certificate: WantedCertificate | IssuedCertificate): Date => {
  const { attempts } = certificate.work;
  const lastAt = attempts?.lastAt ?? new Date(0);
  const wait = Math.min(waitAfter(attempts?.failed ?? 0), longestWait(certificate, lastAt));
  return new Date(lastAt.getTime() + wait);
};

/** Longest wait between two attempts. A renewal has only as long as its certificate is valid. */
export const longestWait = (certificate: CertificateStanding, now: Date): number =>
  certificate.kind === 'issued' ? longestRetryWait(certificate, now) : Infinity;

/** These failures leave the order valid, and continuing it costs nothing. */
export const keepsOrder = (reason: AuthorityFailureReason): boolean =>
  reason === 'unavailable' || reason === 'rate_limited';

/**
 * Longest wait before the next attempt at a renewal: at least ten fit before the end, and after it they become rarer
 * again.
 */
export const longestRetryWait = ({ notAfter }: Validity, now: Date): number =>
  Math.max(minute, Math.abs(notAfter.getTime() - now.getTime()) / 20);

/** A cap, so that a clock that was set back cannot block the question for ever. */
const longestRestMs = 24 * 60 * 60_000;

/**
 * Whether the authority may be asked when it wants the certificate renewed (RFC 9773, section 4.3). A renewal under way
 * needs no plan.
 */
export const mayAskFor = ({ work, askRenewalAt }: IssuedCertificate, now: Date): boolean => {
  if (work.attempts) return false;
  const rest = (askRenewalAt?.getTime() ?? 0) - now.getTime();
  return rest <= 0 || rest > longestRestMs;
};

/** From when on `mayAskFor` holds; undefined while a renewal is under way. */
export const askedForAt = ({ work, askRenewalAt }: IssuedCertificate): Date | undefined =>
  work.attempts ? undefined : (askRenewalAt ?? new Date(0));

/** What the authority said about a renewal, and a number from 0 to 1 that picks a moment in its window. */
export interface RenewalAnswer {
  /** Undefined: it offers none. */
  readonly window: (RenewalSpan & { readonly askAgainAt: Date }) | 'silent' | undefined;
  readonly chance: number;
}

export interface RenewalPlan {
  /** Undefined: it stays as it is. */
  readonly certificate?: IssuedCertificate | undefined;
  readonly verdict: 'planned' | 'unchanged' | 'makes_no_sense';
}

/** Plans the renewal, unless one is under way. A window that makes no sense is as good as none. */
export const planRenewal = (
  certificate: CertificateStanding,
  { window, chance }: RenewalAnswer,
  now: Date,
): RenewalPlan => {
  if (certificate.kind !== 'issued' || certificate.work.attempts) return { verdict: 'unchanged' };
  const otherwise = new Date(now.getTime() + pauseBetweenQuestions(certificate, now));
  if (!window || window === 'silent') {
    // It may have stopped offering windows, and then counts renewals again.
    const hasWindow = window === 'silent' && certificate.hasWindow;
    const none = { ...certificate, askRenewalAt: otherwise, hasWindow };
    return { certificate: none, verdict: 'unchanged' };
  }
  const asked = { ...certificate, askRenewalAt: window.askAgainAt };
  if (!makesSense(window, certificate)) return { certificate: asked, verdict: 'makes_no_sense' };
  const at = wishedRenewalTime(certificate, window, chance);
  // A renewal that waits for the DNS is due already.
  const work: RenewalWork =
    certificate.work.step === 'planned' ? { ...certificate.work, at } : certificate.work;
  return { certificate: { ...asked, work, hasWindow: true }, verdict: 'planned' };
};
