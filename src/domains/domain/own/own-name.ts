import {
  freshAttempts,
  latest,
  nextStepAt,
  planned,
  type IssuedCertificate,
  type WantedCertificate,
} from '../certificates/certificate-status.ts';
import {
  subjectUnder,
  type CertificateTerms,
  type CertificateWork,
  type StoredWork,
  type WorkChange,
  type WorkOutcome,
} from '../certificates/certificate-work.ts';
import { type Validity, shareLeft, urgentFrom } from '../certificates/renewal.ts';
import { methodsFor } from '../dns/validation.ts';

/** A name of our own that gets a certificate: the host of a project, or the platform's pair of names. */
export interface OwnName {
  /** Of a pair, the wildcard. */
  readonly host: string;
  /** How many orders it had; work on an older one is dropped. */
  readonly generation: number;
  readonly certificate: WantedCertificate | IssuedCertificate;
  /** Why the last attempt failed, in the authority's words. */
  readonly failure: string | undefined;
}

/** A decision on a name of our own and everything that depends on it: stored as a whole or not at all. */
export interface OwnChange extends StoredWork {
  readonly name: OwnName;
}

export const unknownOwnName = (host: string): OwnName => ({
  ...{ host, generation: 0, failure: undefined },
  certificate: { kind: 'wanted', work: planned(new Date(0)) },
});

/** What is the same for as long as the name exists. */
export type OwnTerms = Omit<CertificateTerms, 'mayIssue'>;

const keyOf = (host: string): string => `platform:${host}`;

/** See `subjectOf`. */
export const ownSubject = ({ host, generation }: Pick<OwnName, 'host' | 'generation'>): string =>
  subjectUnder(keyOf(host), generation);

export const ownTerms = (
  given: Pick<CertificateTerms, 'host' | 'also' | 'payer' | 'kinds'>,
): OwnTerms => ({
  ...given,
  ...{ key: keyOf(given.host), label: platformLabel, isOurs: true },
  methodAt: () => methodsFor({ host: given.host, isDelegated: false })[0],
  problemOf: () => undefined,
});

/** @param mayIssue the names of the authorities that CAA allows; empty where that is not known */
export const ownWork = (
  { generation, certificate }: OwnName,
  terms: OwnTerms,
  mayIssue: readonly string[],
): CertificateWork => ({ generation, certificate, terms: { ...terms, mayIssue } });

/** What follows for a name of our own from a change of its work. */
export const ownAfter = (name: OwnName, { work, outcome, ...stored }: WorkChange): OwnChange => {
  if (!work) return { name, ...stored };
  const { generation, certificate } = work;
  const failure = failureAfter(name, outcome);
  return { name: { host: name.host, generation, certificate, failure }, ...stored };
};

const failureAfter = ({ failure }: OwnName, outcome: WorkOutcome): OwnName['failure'] => {
  if (outcome.kind === 'issued') return undefined;
  return outcome.kind === 'failed' ? outcome.failure.detail : failure;
};

const day = 24 * 60 * 60_000;

/** Nobody could tell whether it is delegated, so its certificate is not ordered. Remembers since when. */
export const ownUnseen = (name: OwnName, now: Date): OwnName => {
  const { certificate } = name;
  const { work } = certificate;
  if (work.step !== 'planned' || work.attempts) return name;
  return {
    ...name,
    certificate: { ...certificate, work: { ...work, attempts: freshAttempts(now) } },
  };
};

/** So long the hosts of projects wait for an answer of the DNS, before they use up what a week allows. */
const longestUnseenMs = day;

/** Whether its first certificate may still come soon enough for the hosts of projects to wait. */
export const isSoon = ({ certificate: { kind, work } }: OwnName, now: Date): boolean => {
  const since = work.attempts?.firstAt ?? now;
  return kind === 'wanted' && now.getTime() - since.getTime() < longestUnseenMs;
};

export const ownDueAt = ({ certificate }: OwnName): Date =>
  nextStepAt(certificate.work) ?? new Date(0);

/** Longer than the ledger keeps the orders of a name: their subjects begin anew once the name is forgotten. */
const restMs = 9 * day;

/**
 * Whether nothing that is stored of a name of our own is of use, if it needs no certificate now: its last one has ended, and
 * the authority was not asked for another one lately.
 */
export const isSpent = ({ certificate }: OwnName, now: Date): boolean => {
  const ended = certificate.kind === 'issued' ? certificate.notAfter : undefined;
  return latest(certificate.work.attempts?.lastAt, ended).getTime() + restMs < now.getTime();
};

/** Whether the authority was not asked for it for so long that its subjects may begin anew. */
export const isIdle = ({ certificate }: OwnName, now: Date): boolean => {
  const ordered = certificate.kind === 'issued' ? certificate.notBefore : undefined;
  return latest(certificate.work.attempts?.lastAt, ordered).getTime() + restMs < now.getTime();
};

/** The name in our zone where the platform's challenge name leads. */
export const platformLabel = 'platform';

/** The platform's certificate is kept under the second name, which all hosts of projects are below. */
export const pairOf = (platformHost: string) =>
  ({ host: `*.${platformHost}`, also: [platformHost] }) as const;

/** Of its lifetime. The alert PlatformCertificateEnding has the same number. */
export const endingShare = 0.2;

/** How near the end of the platform's certificate is: `urgent` is too near to rely on it, or past. */
export type Ending = 'far' | 'near' | 'urgent';

export const endingOf = (validity: Validity, now: Date): Ending => {
  if (now >= urgentFrom(validity)) return 'urgent';
  return shareLeft(validity, now) < endingShare ? 'near' : 'far';
};

/** Whether visitors of the hosts of projects get the pair's certificate. Too near its end, it is still theirs. */
export const servesHosts = (pair: OwnName | undefined, now: Date): boolean =>
  pair?.certificate.kind === 'issued' && pair.certificate.notAfter > now;

/** Whether they can rely on it, so that they need none of their own. */
export const coversHosts = (pair: OwnName | undefined, now: Date): boolean =>
  pair?.certificate.kind === 'issued' && endingOf(pair.certificate, now) !== 'urgent';
