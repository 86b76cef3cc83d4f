import { freshAttempts, nextAttempt, type Attempts } from '../certificates/attempts.ts';
import { turnAfter, turnAt, type Choice } from '../certificates/authorities.ts';
import type { Validity } from '../certificates/certificate.ts';
import type { AuthorityFailure } from '../certificates/order.ts';
import { nextRenewal, pauseBetweenQuestions, renewalTime } from '../certificates/renewal.ts';
import type { ValidationMethod } from '../dns/validation.ts';
import {
  keepsOrder,
  latest,
  longestWait,
  nextStepAt,
  planned,
  type IssuedCertificate,
  type RenewalWork,
  type WantedCertificate,
} from '../certificates/standing.ts';

/** A name of our own that gets a certificate: the host of a project, or the platform's pair of names. */
export interface OwnName {
  /** Of a pair, the wildcard. */
  readonly host: string;
  /** How many orders it had; work on an older one is dropped. */
  readonly generation: number;
  readonly certificate: OwnCertificate;
  /** Why the last attempt failed, in the authority's words. */
  readonly failure: string | undefined;
}

type OwnCertificate = WantedCertificate | IssuedCertificate;

const minute = 60_000;

/** Nobody can ask again for the host of a project, so its longest pause is shorter than that of a custom domain. */
const longestPauseMs = 100 * minute;

/** @param validity of the certificate that version 1.0.0 stored for it, if any */
export const unknownOwnName = (host: string, validity: Validity | undefined): OwnName => ({
  ...{ host, generation: 0, failure: undefined },
  certificate: validity
    ? {
        ...{ kind: 'issued', ...validity, work: planned(renewalTime({ ...validity, host })) },
        ...{ askRenewalAt: undefined, issuedBy: '', hasWindow: false },
      }
    : { kind: 'wanted', work: planned(new Date(0)) },
});

/** What decides which authority its next attempt goes to. @param mayIssue the names of those that CAA allows */
export const ownChoice = ({ certificate }: OwnName, mayIssue: readonly string[]): Choice => ({
  mayIssue,
  ordered: certificate.work.step === 'ordered' ? certificate.work.authority : undefined,
  attempts: certificate.work.attempts,
  certificate,
});

/** Name of the authority that has its order; undefined without one. */
export const ownOrderedAt = ({ certificate: { work } }: OwnName): string | undefined =>
  work.step === 'ordered' ? work.authority : undefined;

const withOwnWork = (name: OwnName, work: RenewalWork): OwnName => ({
  ...name,
  certificate: { ...name.certificate, work },
});

/** A wildcard can only be validated by DNS (RFC 8555, section 8.4). */
const methodOf = ({ host }: OwnName): ValidationMethod =>
  host.startsWith('*.') ? 'dns-01' : 'http-01';

export const ownOrderStarted = (name: OwnName, authority: string, now: Date): OwnName => {
  const attempts = { ...(name.certificate.work.attempts ?? freshAttempts(now)), lastAt: now };
  const order = { authority, method: methodOf(name), since: now, at: now, attempts };
  const work = { step: 'ordered', ...order, problem: undefined } as const;
  return withOwnWork({ ...name, generation: name.generation + 1 }, work);
};

/** As for a custom domain: never renewed at once, so that a clock far ahead does not order without end. */
export const ownIssued = (name: OwnName, validity: Validity, now: Date): OwnName => ({
  ...{ ...name, failure: undefined },
  certificate: {
    ...{ kind: 'issued', notBefore: validity.notBefore, notAfter: validity.notAfter },
    work: planned(nextRenewal({ ...validity, host: name.host }, now)),
    askRenewalAt: new Date(now.getTime() + pauseBetweenQuestions(validity, now)),
    ...{ hasWindow: false, issuedBy: ownOrderedAt(name) ?? '' },
  },
});

interface OwnFailure {
  readonly failure: AuthorityFailure;
  /** The order can be continued. */
  readonly isKept: boolean;
  /** The authority had taken the order. */
  readonly isPlaced: boolean;
  readonly mayIssue: readonly string[];
}

/** An order that can be continued is continued each minute: that costs nothing. */
export const ownFailed = (
  name: OwnName,
  { failure, isKept, isPlaced, mayIssue }: OwnFailure,
  now: Date,
): OwnName => {
  const order = name.certificate.work.step === 'ordered' ? name.certificate.work : undefined;
  const attempts = failedAgain(name, { ...failure, isPlaced }, now);
  const pauseMs = isKept ? minute : pauseAfter(name, { attempts, failure }, now);
  const choice = {
    ...ownChoice(name, mayIssue),
    ordered: isKept ? order?.authority : undefined,
    attempts,
  };
  const at = turnAt(choice, new Date(now.getTime() + pauseMs));
  const work = { at, attempts, problem: undefined };
  return withOwnWork(
    { ...name, failure: failure.detail },
    isKept && order ? { ...order, ...work } : { step: 'planned', ...work },
  );
};

const nobody = { authority: '', since: undefined };

const failedAgain = (
  { certificate: { work } }: OwnName,
  { reason, retryAt, isPlaced }: AuthorityFailure & Pick<OwnFailure, 'isPlaced'>,
  now: Date,
): Attempts => {
  const tried = work.attempts ?? freshAttempts(now);
  const { authority: by, since } = work.step === 'ordered' ? work : nobody;
  const placed = isPlaced ? since : undefined;
  const turn = turnAfter(tried.turns[by], { isAway: keepsOrder(reason), retryAt, placed }, now);
  return {
    ...{ ...tried, failed: tried.failed + 1, lastAt: now },
    retryAt: retryAt ? latest(retryAt, tried.retryAt) : tried.retryAt,
    ...{ turns: { ...tried.turns, [by]: turn }, lastBy: by },
  };
};

const pauseAfter = (
  { certificate }: OwnName,
  { attempts, failure }: { readonly attempts: Attempts; readonly failure: AuthorityFailure },
  now: Date,
): number => {
  const next = nextAttempt(attempts, { ...failure, retryAt: undefined }, now);
  const wait = next.kind === 'at' ? next.at.getTime() - now.getTime() : longestPauseMs;
  return Math.min(wait, longestPauseMs, longestWait(certificate, now));
};

/** The authority works on the order, so it is not away. */
export const ownProcessing = (name: OwnName, until: Date): OwnName => {
  const { work } = name.certificate;
  if (work.step !== 'ordered') return name;
  const { [work.authority]: _, ...turns } = work.attempts.turns;
  return withOwnWork(name, { ...work, at: until, attempts: { ...work.attempts, turns } });
};

/** The order is given up, and the next attempt is at that time; what was learned of the authorities stays. */
export const withoutOwnOrder = (name: OwnName, at: Date): OwnName => {
  const { work } = name.certificate;
  if (work.step !== 'ordered') return name;
  const { attempts } = work;
  return withOwnWork(name, { step: 'planned', at, attempts, problem: undefined });
};

/** So long the hosts of projects wait for an answer of the DNS, before they use up what a week allows. */
const longestUnseenMs = 24 * 60 * minute;

/** Nobody could tell whether it is delegated, so its certificate is not ordered. Remembers since when. */
export const ownUnseen = (name: OwnName, now: Date): OwnName => {
  const { work } = name.certificate;
  return work.step !== 'planned' || work.attempts
    ? name
    : withOwnWork(name, { ...work, attempts: freshAttempts(now) });
};

/** Whether its first certificate may still come soon enough for the hosts of projects to wait. */
export const isSoon = ({ certificate: { kind, work } }: OwnName, now: Date): boolean => {
  const since = work.attempts?.firstAt ?? now;
  return kind === 'wanted' && now.getTime() - since.getTime() < longestUnseenMs;
};

/** When to go on with its certificate. */
export const ownDueAt = ({ certificate }: OwnName): Date =>
  nextStepAt(certificate.work) ?? new Date(0);
