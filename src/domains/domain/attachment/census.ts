import { shareLeft, type Validity } from '../certificates/renewal.ts';
import {
  type IssuedCertificate,
  nextStepAt,
  type WantedCertificate,
} from '../certificates/certificate-status.ts';
import { responsibles, type Responsible } from '../dns/problem.ts';
import { customDomainStates, type CustomDomain, type CustomDomainState } from './custom-domain.ts';
import { isCertified } from './domain-certificate.ts';
import { healthOf, type DomainHealth, isDelegated } from './serving.ts';

/** For domains that are not live, `health` is `none` and `actor` is `nobody`. */
export interface DomainKind {
  readonly state: CustomDomainState;
  readonly health: DomainHealth['kind'] | 'none';
  readonly actor: Responsible;
}

const actorsOf = {
  healthy: ['nobody'],
  at_risk: responsibles,
  certificate_expired: responsibles,
} as const satisfies Readonly<Record<DomainHealth['kind'], readonly Responsible[]>>;

const healths = Object.keys(actorsOf) as DomainHealth['kind'][];

export const domainKinds: readonly DomainKind[] = customDomainStates.flatMap(
  (state): readonly DomainKind[] =>
    state === 'live'
      ? healths.flatMap((health) => actorsOf[health].map((actor) => ({ state, health, actor })))
      : [{ state, health: 'none', actor: 'nobody' }],
);

export const kindOf = (domain: CustomDomain, now: Date): DomainKind => {
  const health = healthOf(domain, now);
  if (!health) return { state: domain.state, health: 'none', actor: 'nobody' };
  const actor = health.kind === 'healthy' ? 'nobody' : (health.problem?.actor ?? 'us');
  return { state: domain.state, health: health.kind, actor };
};

/** `due`: to be ordered now. `failing`: it failed, and is retried. `waiting_for_owner`: only the owner can help. */
export const certificateStates = ['settled', 'due', 'failing', 'waiting_for_owner'] as const;

const percentIn = { '0-5': 5, '5-20': 20, '20-30': 30, '30-60': 60 } as const;
const ranges = Object.entries(percentIn) as [keyof typeof percentIn, number][];

export const percentLeftRanges = [
  ...(['none', 'expired'] as const),
  ...ranges.map(([range]) => range),
  '60-100' as const,
];

export interface CertificateKind {
  readonly state: (typeof certificateStates)[number];
  readonly percentLeft: (typeof percentLeftRanges)[number];
}

export const certificateKinds: readonly CertificateKind[] = certificateStates.flatMap((state) =>
  percentLeftRanges.map((percentLeft) => ({ state, percentLeft })),
);

export const certificateKindOf = (domain: CustomDomain, now: Date): CertificateKind | undefined => {
  const isNeeded = isCertified(domain) && (domain.state !== 'added' || isDelegated(domain));
  return isNeeded ? kindOfCertificate(domain.certificate, now) : undefined;
};

export const kindOfCertificate = (
  certificate: WantedCertificate | IssuedCertificate,
  now: Date,
): CertificateKind => {
  const { work } = certificate;
  const percentLeft = certificate.kind === 'issued' ? percentLeftOf(certificate, now) : 'none';
  if (work.problem) {
    const state = work.problem.actor === 'customer' ? 'waiting_for_owner' : 'failing';
    return { state, percentLeft };
  }
  const isDue = work.step === 'ordered' || (nextStepAt(work) ?? now) <= now;
  return { state: isDue ? 'due' : 'settled', percentLeft };
};

const percentLeftOf = (validity: Validity, now: Date): CertificateKind['percentLeft'] => {
  const percent = 100 * shareLeft(validity, now);
  if (percent <= 0) return 'expired';
  return ranges.find(([, most]) => percent < most)?.[0] ?? '60-100';
};
