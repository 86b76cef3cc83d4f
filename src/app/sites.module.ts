import { setTimeout as delay } from 'node:timers/promises';
import type { ResolutionContext } from 'inversify';
import { Clock } from '../kernel/clock.ts';
import { Deadline } from '../kernel/deadline.ts';
import { Ids } from '../kernel/ids.ts';
import {
  DomainAllowances,
  ProjectSettings,
  Timeline,
  type DomainPorts,
  DnsVerifier,
  HostNames,
} from '../domains/ports.ts';
import { CustomDomains } from '../domains/custom-domain-ports.ts';
import { Allowances, Projects, SiteFiles, SiteUnpacking } from '../sites/ports.ts';
import {
  AuthorityLedger,
  CertificateAuthority,
  CertificateOrders,
  Certificates,
  DnsChallenges,
  OwnNames,
} from '../domains/certificate-ports.ts';
import { KeyMaterial } from '../access/key-ports.ts';
import { secretLength } from '../access/domain/session.ts';
import { DomainShares } from '../domains/share-ports.ts';
import { EdgeRecords } from '../domains/edge-ports.ts';
import { domains } from '../domains/domains.ts';
import { sites } from '../sites/sites.ts';
import { apart } from './request-deadline.ts';
import { ConfigKey, DomainsKey, SecondAuthorityKey, SitesKey } from './keys.ts';
import { wiring } from './wiring.ts';

const domainPorts = (c: ResolutionContext): DomainPorts => {
  const { platformHost, platformAddresses, allowTestDomains, acmeDnsZone } = c.get(ConfigKey);
  const { platformCertificateFile } = c.get(ConfigKey);
  const projects = c.get(Projects);
  const keyMaterial = c.get(KeyMaterial);
  return {
    domains: c.get(CustomDomains),
    settings: c.get(ProjectSettings),
    allowances: c.get(DomainAllowances),
    edgeRecords: c.get(EdgeRecords),
    accountOf: async (slug) => (await projects.find(slug))?.project.accountId,
    hostNames: c.get(HostNames),
    dns: apart(c.get(Deadline), c.get(DnsVerifier)),
    authority: c.get(CertificateAuthority),
    secondAuthority: c.get(SecondAuthorityKey).authority,
    certificates: c.get(Certificates),
    orders: c.get(CertificateOrders),
    dnsChallenges: c.get(DnsChallenges),
    ownNames: c.get(OwnNames),
    hasPlatformFiles: platformCertificateFile !== undefined,
    ledger: c.get(AuthorityLedger),
    timeline: c.get(Timeline),
    shares: c.get(DomainShares),
    linkSecrets: {
      next: () => keyMaterial.randomBase62(secretLength),
      hash: (secret) => keyMaterial.sha256(secret),
    },
    naming: { platformHost, allowTestDomains, acmeDnsZone },
    platformAddresses,
    clock: c.get(Clock),
    ids: c.get(Ids),
    chance: Math.random,
    pause: (milliseconds) => delay(milliseconds),
  };
};

/** The faces of the contexts about sites, each over its ports. */
export const siteContexts = wiring((once) => {
  once(SitesKey, (c) =>
    sites({
      projects: c.get(Projects),
      files: c.get(SiteFiles),
      unpacking: apart(c.get(Deadline), c.get(SiteUnpacking)),
      allowances: c.get(Allowances),
      clock: c.get(Clock),
      ids: c.get(Ids),
    }),
  );
  once(DomainsKey, (c) => domains(domainPorts(c)));
});
