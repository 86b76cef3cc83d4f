import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ResolutionContext } from 'inversify';
import { AcmeCertificateAuthority } from '../adapters/acme/acme-certificate-authority.ts';
import { LocalCertificateAuthority } from '../adapters/acme/local-certificate-authority.ts';
import { uploadSlots } from '../adapters/dashboard/projects/uploads.ts';
import { NodeDnsVerifier } from '../adapters/dns/node-dns-verifier.ts';
import { DueDomains } from '../adapters/schedule/due-domains.ts';
import { LeasedJob, type LeasedJobPorts } from '../adapters/schedule/leased-job.ts';
import { FileSystemSiteFiles } from '../adapters/storage/file-system-site-files.ts';
import { named, RunningWork } from '../adapters/system/running-work.ts';
import { ThreadedJudge } from '../adapters/threads/threaded-judge.ts';
import { ThreadedUnpacking } from '../adapters/threads/threaded-unpacking.ts';
import { TldtsHostNames } from '../adapters/system/tldts-host-names.ts';
import { Accounts } from '../access/key-ports.ts';
import { Clock } from '../kernel/clock.ts';
import { JobLeases } from '../kernel/job-leases.ts';
import { Sealer } from '../kernel/sealer.ts';
import type { CustomDomain } from '../domains/domain/attachment/custom-domain.ts';
import {
  CustomDomains,
  DnsJudge,
  DnsVerifier,
  DomainAllowances,
  HostNames,
} from '../domains/ports.ts';
import { Allowances, SiteFiles, SiteUnpacking } from '../sites/ports.ts';
import { AuthorityAccounts, CertificateAuthority } from '../domains/certificate-ports.ts';
import type { Config } from './settings/config.ts';
import {
  ConfigKey,
  LogKey,
  PlanRenewalsKey,
  ProcessKey,
  SecureSitesKey,
  DomainsKey,
} from './keys.ts';
import { allowancesByPlan, PlanAllowances } from './plan-allowances.ts';
import { threadEntry } from './threads/thread-entry.ts';
import type { UnpackingSetup } from './threads/unpack-sites.ts';
import { wiring } from './wiring.ts';

export const publishing = wiring((once, bind) => {
  once(SiteFiles, (c) => new FileSystemSiteFiles(deploysIn(c.get(ConfigKey))));
  once(ThreadedUnpacking, (c) => {
    const setup: UnpackingSetup = { folder: deploysIn(c.get(ConfigKey)) };
    const entry = threadEntry('unpack-sites');
    return new ThreadedUnpacking({ entry, setup, threads: uploadSlots.unpacking.all });
  }).onDeactivation((unpacking) => unpacking.close());
  bind(SiteUnpacking).toService(ThreadedUnpacking);
  once(CertificateAuthority, (c) => {
    const { acme, dataDir: folder } = c.get(ConfigKey);
    const clock = c.get(Clock);
    return acme
      ? new AcmeCertificateAuthority(acme, c.get(AuthorityAccounts), clock)
      : new LocalCertificateAuthority({ folder, sealer: c.get(Sealer), clock });
  });
  once(
    DnsVerifier,
    (c) =>
      new NodeDnsVerifier({
        servers: c.get(ConfigKey).dnsServers,
        clock: c.get(Clock),
        randomLabel: () => `as-${randomBytes(8).toString('hex')}`,
      }),
  );
  once(ThreadedJudge, () => new ThreadedJudge(threadEntry('judge-dns'))).onDeactivation((judge) =>
    judge.close(),
  );
  bind(DnsJudge).toService(ThreadedJudge);
  bind(HostNames).toConstantValue(new TldtsHostNames());
  once(Allowances, (c) => new PlanAllowances(c.get(Accounts), allowancesByPlan(c.get(ConfigKey))));
  bind(DomainAllowances).toService(Allowances);
  once(DueDomains, (c) => {
    const running = c.get(RunningWork);
    const tend = (domain: CustomDomain) =>
      running.during(named('check of', domain.host), () => c.get(DomainsKey).tendDomain(domain));
    const [domains, clock, log] = [c.get(CustomDomains), c.get(Clock), c.get(LogKey)];
    return new DueDomains({ domains, tend, clock, log });
  });
  once(SecureSitesKey, (c) => {
    const work = (isStopping: () => boolean) => c.get(DomainsKey).secureSites(isStopping);
    return new LeasedJob('issue and renew certificates', work, leased(c));
  });
  once(
    PlanRenewalsKey,
    (c) => new LeasedJob('plan renewals', () => c.get(DomainsKey).planRenewals(), leased(c)),
  );
});

const deploysIn = ({ dataDir }: Config): string => join(dataDir, 'deploys');

const leased = (c: ResolutionContext): LeasedJobPorts => ({
  leases: c.get(JobLeases),
  clock: c.get(Clock),
  log: c.get(LogKey),
  holder: c.get(ProcessKey),
});
