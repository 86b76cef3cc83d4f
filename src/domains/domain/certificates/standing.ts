import { freshAttempts, waitAfter, type Attempts } from './attempts.ts';
import type { AuthorityFailureReason } from './order.ts';
import type { Validity } from './certificate.ts';
import { longestRetryWait } from './retry-wait.ts';
import type { DnsProblem } from '../dns/problem.ts';
import type { ValidationMethod } from '../dns/validation.ts';

/** Whether a domain has a certificate, and how far the work on the next one is. */
export type CertificateStanding = NoCertificate | WantedCertificate | IssuedCertificate;

export interface NoCertificate {
  readonly kind: 'none';
}

/** The first one is being obtained. */
export interface WantedCertificate {
  readonly kind: 'wanted';
  readonly work: CertificateWork;
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
export type CertificateWork =
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
export const plannedByOwner = (work: CertificateWork, now: Date): CertificateWork => {
  // What was learned of the authorities stays true.
  const { turns = {}, lastBy, unproven } = work.attempts ?? {};
  const attempts = { ...freshAttempts(now), turns, lastBy, unproven, isManual: true };
  const planned = { at: now, attempts, problem: undefined };
  return work.step === 'ordered' ? { ...work, ...planned } : { step: 'planned', ...planned };
};

interface Certifiable {
  readonly certificate: CertificateStanding;
}

export const workOn = ({ certificate }: Certifiable): CertificateWork | undefined =>
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
export const nextStepAt = (work: CertificateWork): Date | undefined => {
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
