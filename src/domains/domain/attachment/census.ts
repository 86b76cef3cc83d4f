import {
  type Validity,
  isDueForRenewal,
  shareLeft,
  type HostValidity,
} from '../certificates/renewal.ts';
import { nextStepAt, workOn } from '../certificates/certificate-status.ts';
import { responsibles, type Responsible } from '../dns/problem.ts';
import { customDomainStates, type CustomDomain, type CustomDomainState } from './custom-domain.ts';
import { healthOf, type DomainHealth, isDelegated } from './serving.ts';

/** What operators count domains by. `none` and `nobody` where a domain is not live. */
export interface DomainKind {
  readonly state: CustomDomainState;
  readonly health: DomainHealth['kind'] | 'none';
  readonly actor: Responsible;
}

/** Who may have to act for a live domain. */
const actorsOf = {
  healthy: ['nobody'],
  at_risk: responsibles,
  certificate_expired: responsibles,
} as const satisfies Readonly<Record<DomainHealth['kind'], readonly Responsible[]>>;

const healths = Object.keys(actorsOf) as DomainHealth['kind'][];

/** Every kind, so that those without a domain are counted too. */
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

/**
 * `due`: one is to be had, or renewed, now. `failing`: the last attempt failed for a reason that is not the owner's, and
 * is repeated. `waiting_for_owner`: only the owner of the name can help.
 */
export const certificateStates = ['settled', 'due', 'failing', 'waiting_for_owner'] as const;

const percentIn = { '0-5': 5, '5-20': 20, '20-30': 30, '30-60': 60 } as const;
const ranges = Object.entries(percentIn) as [keyof typeof percentIn, number][];

/** How much of its lifetime a certificate has left, in ranges of percent; `none` where there is no certificate yet. */
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

/** @returns undefined for a domain that needs no certificate, or whose name nothing proves any more */
export const certificateKindOf = (domain: CustomDomain, now: Date): CertificateKind | undefined => {
  const work = workOn(domain);
  if (!work || (domain.state === 'added' && !isDelegated(domain))) return undefined;
  const { certificate } = domain;
  const percentLeft = certificate.kind === 'issued' ? percentLeftOf(certificate, now) : 'none';
  if (work.problem) {
    return {
      state: work.problem.actor === 'customer' ? 'waiting_for_owner' : 'failing',
      percentLeft,
    };
  }
  const isDue = work.step === 'ordered' || (nextStepAt(work) ?? now) <= now;
  return { state: isDue ? 'due' : 'settled', percentLeft };
};

/** The certificate of a project's own host, of which no failure is kept. */
export const ownCertificateKind = (validity: HostValidity, now: Date): CertificateKind => ({
  state: isDueForRenewal(validity, now) ? 'due' : 'settled',
  percentLeft: percentLeftOf(validity, now),
});

const percentLeftOf = (validity: Validity, now: Date): CertificateKind['percentLeft'] => {
  const percent = 100 * shareLeft(validity, now);
  if (percent <= 0) return 'expired';
  return ranges.find(([, most]) => percent < most)?.[0] ?? '60-100';
};
