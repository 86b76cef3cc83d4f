import type { ResolutionContext } from 'inversify';
import {
  AcmeCertificateAuthority,
  authorityName,
} from '../adapters/acme/acme-certificate-authority.ts';
import { LocalCertificateAuthority } from '../adapters/acme/local-certificate-authority.ts';
import { TracedAuthority } from '../adapters/acme/traced-authority.ts';
import { AuthorityAccounts, CertificateAuthority } from '../domains/certificate-ports.ts';
import { Clock } from '../kernel/clock.ts';
import { Sealer } from '../kernel/sealer.ts';
import { ConfigKey, LogKey, MetricsKey, SecondAuthorityKey } from './keys.ts';
import { measuredAuthority } from './measures/measured-authority.ts';
import type { AcmeConfig } from './settings/authorities.ts';
import { tracerOf } from './tracing.ts';
import { wiring } from './wiring.ts';

/** Where certificates come from. */
export const authorities = wiring((once) => {
  once(CertificateAuthority, (c) => {
    const { acme, dataDir: folder } = c.get(ConfigKey);
    if (acme) return acmeAuthority(c, acme);
    const [sealer, clock] = [c.get(Sealer), c.get(Clock)];
    return watched(c, new LocalCertificateAuthority({ folder, sealer, clock }), undefined);
  });
  once(SecondAuthorityKey, (c) => {
    const { acmeFallback } = c.get(ConfigKey);
    return { authority: acmeFallback && acmeAuthority(c, acmeFallback) };
  });
});

const acmeAuthority = (c: ResolutionContext, acme: AcmeConfig): CertificateAuthority => {
  const settings = { ...acme, lacksProfile: toldOfProfile(c, acme) };
  const authority = new AcmeCertificateAuthority(settings, c.get(AuthorityAccounts), c.get(Clock));
  return watched(c, authority, acme.directoryUrl);
};

const watched = (
  c: ResolutionContext,
  authority: CertificateAuthority,
  directoryUrl: string | undefined,
): CertificateAuthority => {
  const [tracer, metrics] = [tracerOf(c), c.get(MetricsKey, { optional: true })];
  const traced = tracer ? new TracedAuthority(authority, tracer, directoryUrl) : authority;
  return metrics ? measuredAuthority(traced, metrics) : traced;
};

const toldOfProfile = (c: ResolutionContext, { directoryUrl }: AcmeConfig) => {
  const [log, metrics] = [c.get(LogKey), c.get(MetricsKey, { optional: true })];
  const authority = authorityName(directoryUrl);
  metrics?.count('authority_default_profiles_total', { authority }, 0);
  return (profile: string) => {
    metrics?.count('authority_default_profiles_total', { authority });
    const text = 'the authority does not offer ACME_PROFILE, used its default profile';
    log.warn({ authority, profile }, text);
  };
};
