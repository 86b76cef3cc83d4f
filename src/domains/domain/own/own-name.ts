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
} from '../certificates/certificate-work.ts';
import { type Validity, shareLeft, urgentFrom } from '../certificates/renewal.ts';
import { dnsProblem } from '../dns/problem.ts';
import { methodsFor } from '../dns/validation.ts';
import { dayMs } from '../../../kernel/durations.ts';

export interface OwnName {
  readonly host: string;
  readonly generation: number;
  readonly certificate: WantedCertificate | IssuedCertificate;
}

export interface OwnChange extends StoredWork {
  readonly name: OwnName;
}

export const unknownOwnName = (host: string): OwnName => ({
  host,
  generation: 0,
  certificate: { kind: 'wanted', work: planned(new Date(0)) },
});

export type OwnTerms = Omit<CertificateTerms, 'mayIssue'>;

const keyOf = (host: string): string => `platform:${host}`;

export const ownSubject = ({ host, generation }: Pick<OwnName, 'host' | 'generation'>): string =>
  subjectUnder(keyOf(host), generation);

export const ownTerms = (
  given: Pick<CertificateTerms, 'host' | 'also' | 'payer' | 'kinds'>,
): OwnTerms => ({
  ...given,
  key: keyOf(given.host),
  label: platformLabel,
  isOurs: true,
  methodAt: () => methodsFor({ host: given.host, isDelegated: false })[0],
  problemOf: ({ failure: { detail: seen } }) =>
    dnsProblem('ca_unavailable', { seen, wanted: `a certificate for ${given.host}` }),
});

export const ownWork = (
  { generation, certificate }: OwnName,
  terms: OwnTerms,
  mayIssue: readonly string[],
): CertificateWork => ({ generation, certificate, terms: { ...terms, mayIssue } });

export const ownAfter = (
  name: OwnName,
  { work, ...stored }: WorkChange,
): OwnChange & Pick<WorkChange, 'outcome'> => {
  const { generation, certificate } = work ?? name;
  return { name: { host: name.host, generation, certificate }, ...stored };
};

/** Remembers since when the delegation is unknown, so that no certificate is ordered. */
export const ownUnseen = (name: OwnName, now: Date): OwnName => {
  const { certificate } = name;
  const { work } = certificate;
  if (work.step !== 'planned' || work.attempts) return name;
  return {
    ...name,
    certificate: { ...certificate, work: { ...work, attempts: freshAttempts(now) } },
  };
};

const longestUnseenMs = dayMs;

export const isSoon = ({ certificate: { kind, work } }: OwnName, now: Date): boolean => {
  const since = work.attempts?.firstAt ?? now;
  return kind === 'wanted' && now.getTime() - since.getTime() < longestUnseenMs;
};

export const ownDueAt = ({ certificate }: OwnName): Date =>
  nextStepAt(certificate.work) ?? new Date(0);

/** Longer than the ledger keeps orders, because a forgotten name reuses their subjects. */
const restMs = 9 * dayMs;

/** Whether the stored name is useless: its certificate has ended, and there was no recent attempt. */
export const isSpent = ({ certificate }: OwnName, now: Date): boolean => {
  const ended = certificate.kind === 'issued' ? certificate.notAfter : undefined;
  return latest(certificate.work.attempts?.lastAt, ended).getTime() + restMs < now.getTime();
};

export const isIdle = ({ certificate }: OwnName, now: Date): boolean => {
  const ordered = certificate.kind === 'issued' ? certificate.notBefore : undefined;
  return latest(certificate.work.attempts?.lastAt, ordered).getTime() + restMs < now.getTime();
};

export const platformLabel = 'platform';

export const pairOf = (platformHost: string) =>
  ({ host: `*.${platformHost}`, also: [platformHost] }) as const;

/** Share of the lifetime. The alert PlatformCertificateEnding uses the same number. */
export const endingShare = 0.2;

export type Ending = 'far' | 'near' | 'urgent';

export const endingOf = (validity: Validity, now: Date): Ending => {
  if (now >= urgentFrom(validity)) return 'urgent';
  return shareLeft(validity, now) < endingShare ? 'near' : 'far';
};

/** Whether projects' hosts are served with the pair's certificate, which they are until it ends. */
export const servesHosts = (pair: OwnName | undefined, now: Date): boolean =>
  pair?.certificate.kind === 'issued' && pair.certificate.notAfter > now;

/** Whether projects' hosts can use it, so that they need no certificates of their own. */
export const coversHosts = (pair: OwnName | undefined, now: Date): boolean =>
  pair?.certificate.kind === 'issued' && endingOf(pair.certificate, now) !== 'urgent';
