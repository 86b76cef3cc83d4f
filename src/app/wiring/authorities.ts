import type { ResolutionContext } from 'inversify';
import {
  AcmeCertificateAuthority,
  authorityName,
} from '../../adapters/acme/acme-certificate-authority.ts';
import { LocalCertificateAuthority } from '../../adapters/acme/local-certificate-authority.ts';
import type { Tally } from '../../adapters/http/metrics/measures.ts';
import {
  AuthorityAccounts,
  CertificateAuthority,
  type OrderAnswer,
} from '../../domains/certificate-ports.ts';
import {
  authorityFailureReasons,
  type AuthorityFailureReason,
  type OrderState,
} from '../../domains/domain/certificates/certificate-status.ts';
import { Clock, Sealer } from '../../kernel/ports.ts';
import { traced, type Span, type StepFacts, type Tracer } from '../../kernel/tracer.ts';
import { ConfigKey, LogKey, MetricsKey, SecondAuthorityKey } from '../keys.ts';
import type { AcmeConfig } from '../settings/settings.ts';
import { tracerOf } from '../tracing.ts';
import { wiring } from './wiring.ts';

export const authorities = wiring((once) => {
  once(CertificateAuthority, (c) => {
    const { acme, dataDir: folder } = c.get(ConfigKey);
    if (acme) return acmeAuthority(c, acme);
    const [sealer, clock] = [c.get(Sealer), c.get(Clock)];
    return observed(c, new LocalCertificateAuthority({ folder, sealer, clock }), undefined);
  });
  once(SecondAuthorityKey, (c) => {
    const { acmeFallback } = c.get(ConfigKey);
    return { authority: acmeFallback && acmeAuthority(c, acmeFallback) };
  });
});

const acmeAuthority = (c: ResolutionContext, acme: AcmeConfig): CertificateAuthority => {
  const settings = { ...acme, lacksProfile: toldOfProfile(c, acme) };
  const authority = new AcmeCertificateAuthority(settings, c.get(AuthorityAccounts), c.get(Clock));
  return observed(c, authority, acme.directoryUrl);
};

const observed = (
  c: ResolutionContext,
  authority: CertificateAuthority,
  directoryUrl: string | undefined,
): CertificateAuthority => {
  const [tracer, metrics] = [tracerOf(c), c.get(MetricsKey, { optional: true })];
  const watched = tracer ? tracedAuthority(authority, tracer, directoryUrl) : authority;
  return metrics ? measuredAuthority(watched, metrics) : watched;
};

/** Traces calls without URLs, which identify orders and accounts. @param directoryUrl undefined for the local authority */
const tracedAuthority = (
  authority: CertificateAuthority,
  tracer: Tracer,
  directoryUrl: string | undefined,
): CertificateAuthority => {
  const place =
    directoryUrl === undefined ? {} : { 'server.address': new URL(directoryUrl).hostname };
  const stepOf = (step: string, about: StepFacts = {}) => {
    const facts = { ...place, 'animal_store.acme.step': step, ...about };
    return { name: `ACME ${step}`, kind: 'client', facts } as const;
  };
  const on = (step: string, host: string) => ({
    ...stepOf(step, { 'animal_store.acme.host': host }),
    answered: tellAnswer,
  });
  return traced(authority, tracer, {
    order: (host) => on('order', host),
    look: ({ host }) => on('look', host),
    prove: ({ host }) => on('prove', host),
    finalize: ({ host }) => on('finalize', host),
    renewalWindow: () => stepOf('renewalWindow'),
  });
};

const tellAnswer = (span: Span, answer: OrderAnswer | OrderState): void => {
  span.tell({ 'animal_store.acme.outcome': answer.kind });
  if (answer.kind === 'failed') span.fail(answer.failure.reason);
};

const toldOfProfile = (c: ResolutionContext, { directoryUrl }: AcmeConfig) => {
  const [log, metrics] = [c.get(LogKey), c.get(MetricsKey, { optional: true })];
  const authority = authorityName(directoryUrl);
  metrics?.count('authority_default_profiles_total', { authority }, 0);
  return (profile: string) => {
    metrics?.count('authority_default_profiles_total', { authority });
    const text = 'the authority does not offer ACME_PROFILE, so its default profile is used';
    log.warn({ authority, profile }, text);
  };
};

export const measuredAuthority = (
  authority: CertificateAuthority,
  metrics: Pick<Tally, 'count'>,
): CertificateAuthority => {
  const { name } = authority;
  const failed = (reason: AuthorityFailureReason, by = 1) => {
    metrics.count('authority_failures_total', { authority: name, reason }, by);
  };
  const count = (what: 'orders' | 'certificates', by = 1) => {
    metrics.count(`authority_${what}_total`, { authority: name }, by);
  };
  const told = async (step: Promise<OrderState>): Promise<OrderState> => {
    const state = await step;
    if (state.kind === 'failed') failed(state.failure.reason);
    if (state.kind === 'issued') count('certificates');
    return state;
  };
  for (const reason of authorityFailureReasons) failed(reason, 0);
  for (const what of ['orders', 'certificates'] as const) count(what, 0);
  return {
    name,
    issuers: () => authority.issuers(),
    accountUri: () => authority.accountUri(),
    newPrivateKey: () => authority.newPrivateKey(),
    order: async (host, replaces, also) => {
      const answer = await authority.order(host, replaces, also);
      if (answer.kind === 'failed') failed(answer.failure.reason);
      else count('orders');
      return answer;
    },
    look: (order) => told(authority.look(order)),
    prove: (order, challengeUrl) => told(authority.prove(order, challengeUrl)),
    finalize: (order) => told(authority.finalize(order)),
    renewalWindow: (chain) => authority.renewalWindow(chain),
  };
};
