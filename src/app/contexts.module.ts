import { setTimeout as delay } from 'node:timers/promises';
import type { ResolutionContext } from 'inversify';
import { access } from '../access/access.ts';
import { Accounts, ApiKeys, KeyMaterial } from '../access/key-ports.ts';
import { Passwords, People, Sessions, SignInLinks } from '../access/people-ports.ts';
import { QuotaCounters } from '../access/quota-ports.ts';
import { UsageLog } from '../access/usage-ports.ts';
import { operationSunsets } from '../adapters/http/operations/pet-operations.ts';
import { catalogue } from '../catalogue/catalogue.ts';
import { Orders, Pets } from '../catalogue/ports.ts';
import { Acting } from '../kernel/acting.ts';
import { Clock } from '../kernel/clock.ts';
import { Deadline } from '../kernel/deadline.ts';
import { Ids } from '../kernel/ids.ts';
import { Sealer } from '../kernel/sealer.ts';
import {
  CustomDomains,
  DnsJudge,
  DomainAllowances,
  ProjectSettings,
  Timeline,
  type DomainPorts,
  DnsVerifier,
  HostNames,
} from '../domains/ports.ts';
import { Allowances, Projects, SiteFiles, SiteUnpacking } from '../sites/ports.ts';
import {
  CertificateAuthority,
  Certificates,
  AuthorityLedger,
  CertificateOrders,
} from '../domains/certificate-ports.ts';
import { EdgeRecords } from '../domains/edge-ports.ts';
import { domains } from '../domains/domains.ts';
import { sites } from '../sites/sites.ts';
import { apart } from './request-deadline.ts';
import { AccessKey, CatalogueKey, ConfigKey, DomainsKey, SitesKey } from './keys.ts';
import { wiring } from './wiring.ts';

const domainPorts = (c: ResolutionContext): DomainPorts => {
  const { platformHost, platformAddresses, allowTestDomains } = c.get(ConfigKey);
  const projects = c.get(Projects);
  return {
    domains: c.get(CustomDomains),
    settings: c.get(ProjectSettings),
    allowances: c.get(DomainAllowances),
    edgeRecords: c.get(EdgeRecords),
    accountOf: async (slug) => (await projects.find(slug))?.project.accountId,
    hostNames: c.get(HostNames),
    dns: apart(c.get(Deadline), c.get(DnsVerifier)),
    judge: apart(c.get(Deadline), c.get(DnsJudge)),
    authority: c.get(CertificateAuthority),
    certificates: c.get(Certificates),
    orders: c.get(CertificateOrders),
    ledger: c.get(AuthorityLedger),
    timeline: c.get(Timeline),
    naming: { platformHost, allowTestDomains },
    platformAddresses,
    clock: c.get(Clock),
    ids: c.get(Ids),
    chance: Math.random,
    pause: (milliseconds) => delay(milliseconds),
  };
};

/** The faces of the four contexts, each over its ports. */
export const contexts = wiring((once) => {
  once(CatalogueKey, (c) =>
    catalogue({ pets: c.get(Pets), orders: c.get(Orders), clock: c.get(Clock) }),
  );
  once(AccessKey, (c) =>
    access({
      accounts: c.get(Accounts),
      apiKeys: c.get(ApiKeys),
      keyMaterial: c.get(KeyMaterial),
      counters: c.get(QuotaCounters),
      usage: c.get(UsageLog),
      people: c.get(People),
      sessions: c.get(Sessions),
      signInLinks: c.get(SignInLinks),
      passwords: apart(c.get(Deadline), c.get(Passwords)),
      sealer: c.get(Sealer),
      acting: c.get(Acting),
      clock: c.get(Clock),
      ids: c.get(Ids),
      deprecatedOperations: [...operationSunsets.keys()],
    }),
  );
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
