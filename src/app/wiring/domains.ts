import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ResolutionContext } from 'inversify';
import { secretLength } from '../../access/domain/session.ts';
import { KeyMaterial } from '../../access/ports.ts';
import { NodeDnsVerifier } from '../../adapters/dns/node-dns-verifier.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { KyselyOutbox } from '../../adapters/kysely/kysely-outbox.ts';
import {
  KyselyAuthorityAccounts,
  KyselyCertificateOrders,
  KyselyDnsChallenges,
  KyselyAuthorityLedger,
} from '../../adapters/kysely/sites/kysely-certificate-orders.ts';
import {
  KyselyCertificates,
  KyselyOwnNames,
} from '../../adapters/kysely/sites/kysely-certificates.ts';
import {
  KyselyCustomDomains,
  KyselyDueDomains,
} from '../../adapters/kysely/sites/kysely-custom-domains.ts';
import { KyselyDomainShares } from '../../adapters/kysely/sites/kysely-domain-shares.ts';
import { KyselyEdgeRecords } from '../../adapters/kysely/sites/kysely-edge-records.ts';
import { KyselyProjectSettings } from '../../adapters/kysely/sites/project-routes.ts';
import { KyselyTimeline } from '../../adapters/kysely/sites/domain-changes.ts';
import { TldtsHostNames } from '../../adapters/system/tldts-host-names.ts';
import {
  AuthorityAccounts,
  AuthorityLedger,
  CertificateAuthority,
  CertificateOrders,
  Certificates,
  DnsChallenges,
  OwnNames,
} from '../../domains/certificate-ports.ts';
import {
  CustomDomains,
  DueDomains,
  EdgeRecords,
  DnsVerifier,
  DomainAllowances,
  HostNames,
  ProjectSettings,
  Timeline,
  type DomainPorts,
  DomainShares,
} from '../../domains/ports.ts';
import { domains } from '../../domains/domains.ts';
import { apart, Clock, Deadline, Ids, Sealer } from '../../kernel/ports.ts';
import { Allowances, Projects } from '../../sites/ports.ts';
import { ConfigKey, DomainsKey, SecondAuthorityKey } from '../keys.ts';
import { tracerOf } from '../tracing.ts';
import { wiring } from './wiring.ts';

export const domainsModule = wiring((once, bind) => {
  once(
    CustomDomains,
    (c) =>
      new KyselyCustomDomains(c.get(Database), c.get(KyselyOutbox), {
        sealer: c.get(Sealer),
        clock: c.get(Clock),
      }),
  );
  once(DueDomains, (c) => new KyselyDueDomains(c.get(Database), c.get(Ids)));
  once(
    ProjectSettings,
    (c) => new KyselyProjectSettings(c.get(Database), c.get(KyselyOutbox), c.get(Clock)),
  );
  once(CertificateOrders, (c) => new KyselyCertificateOrders(c.get(Database), c.get(Sealer)));
  once(Certificates, (c) => new KyselyCertificates(c.get(Database)));
  once(DomainShares, (c) => new KyselyDomainShares(c.get(Database), c.get(KyselyOutbox)));
  once(OwnNames, (c) => new KyselyOwnNames(c.get(Database), c.get(Sealer)));
  once(DnsChallenges, (c) => new KyselyDnsChallenges(c.get(Database)));
  once(AuthorityLedger, (c) => new KyselyAuthorityLedger(c.get(Database)));
  once(AuthorityAccounts, (c) => new KyselyAuthorityAccounts(c.get(Database), c.get(Sealer)));
  once(Timeline, (c) => new KyselyTimeline(c.get(Database)));
  once(EdgeRecords, (c) => new KyselyEdgeRecords(c.get(Database), c.get(Sealer)));
  once(
    DnsVerifier,
    (c) =>
      new NodeDnsVerifier({
        servers: c.get(ConfigKey).dnsServers,
        clock: c.get(Clock),
        tracer: tracerOf(c),
        asksForDelegation: c.get(ConfigKey).acmeDnsZone !== undefined,
        randomLabel: () => `as-${randomBytes(8).toString('hex')}`,
      }),
  );
  bind(HostNames).toConstantValue(new TldtsHostNames());
  bind(DomainAllowances).toService(Allowances);
  once(DomainsKey, (c) => domains(domainPorts(c)));
});

const domainPorts = (c: ResolutionContext): DomainPorts => {
  const config = c.get(ConfigKey);
  const { platformHost, platformAddresses, allowTestDomains, acmeDnsZone } = config;
  const projects = c.get(Projects);
  const keyMaterial = c.get(KeyMaterial);
  return {
    domains: c.get(CustomDomains),
    settings: c.get(ProjectSettings),
    allowances: c.get(DomainAllowances),
    edgeRecords: c.get(EdgeRecords),
    accountOf: (slug) => projects.accountOf(slug),
    hostNames: c.get(HostNames),
    dns: apart(c.get(Deadline), c.get(DnsVerifier)),
    authority: c.get(CertificateAuthority),
    secondAuthority: c.get(SecondAuthorityKey).authority,
    certificates: c.get(Certificates),
    orders: c.get(CertificateOrders),
    dnsChallenges: c.get(DnsChallenges),
    ownNames: c.get(OwnNames),
    hasPlatformFiles: config.platformCertificateFile !== undefined,
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
