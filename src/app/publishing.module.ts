import { asJob } from '../adapters/schedule/cron-jobs.ts';
import { randomBytes } from 'node:crypto';
import { uploadSlots } from '../adapters/dashboard/projects/upload-slots.ts';
import { NodeDnsVerifier } from '../adapters/dns/node-dns-verifier.ts';
import { backupTimes } from '../adapters/kysely/copies/backup-times.ts';
import { Database } from '../adapters/kysely/database.ts';
import { DueDomains } from '../adapters/schedule/due-domains.ts';
import { named, RunningWork } from '../adapters/system/running-work.ts';
import { ThreadedJudge } from '../adapters/threads/threaded-judge.ts';
import { ThreadedUnpacking } from '../adapters/threads/threaded-unpacking.ts';
import { TldtsHostNames } from '../adapters/system/tldts-host-names.ts';
import { Accounts } from '../access/key-ports.ts';
import { Clock } from '../kernel/clock.ts';
import type { Beginning } from '../kernel/tracer.ts';
import type { CustomDomain } from '../domains/domain/attachment/custom-domain.ts';
import { DnsJudge, DnsVerifier, DomainAllowances, HostNames } from '../domains/ports.ts';
import { CustomDomains } from '../domains/custom-domain-ports.ts';
import { Allowances, SiteUnpacking } from '../sites/ports.ts';
import {
  CensusKey,
  ConfigKey,
  LogKey,
  NotificationsKey,
  PlanRenewalsKey,
  SecureSitesKey,
  SitesKey,
  DomainsKey,
  WebhookCallsKey,
} from './keys.ts';
import { leased, leasedJob } from './leased.ts';
import { storedCensus } from './measures/show-census.ts';
import { allowancesByPlan, PlanAllowances } from './plan-allowances.ts';
import { deploysFolder } from './settings/deploys-place.ts';
import { threadEntry } from './threads/thread-entry.ts';
import type { UnpackingSetup } from './threads/unpack-sites.ts';
import { begun, tracerOf } from './tracing.ts';
import { wiring } from './wiring.ts';

/** Where there is no object store. */
export const folderUnpacking = wiring((_once, bind) => {
  bind(SiteUnpacking).toService(ThreadedUnpacking);
});

export const publishing = wiring((once, bind) => {
  once(ThreadedUnpacking, (c) => {
    const setup: UnpackingSetup = { folder: deploysFolder(c.get(ConfigKey)) };
    const entry = threadEntry('unpack-sites');
    return new ThreadedUnpacking({ entry, setup, threads: uploadSlots.unpacking.all });
  }).onDeactivation((unpacking) => unpacking.close());
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
  once(ThreadedJudge, () => new ThreadedJudge(threadEntry('judge-dns'))).onDeactivation((judge) =>
    judge.close(),
  );
  bind(DnsJudge).toService(ThreadedJudge);
  bind(HostNames).toConstantValue(new TldtsHostNames());
  once(Allowances, (c) => new PlanAllowances(c.get(Accounts), allowancesByPlan(c.get(ConfigKey))));
  bind(DomainAllowances).toService(Allowances);
  once(DueDomains, (c) => {
    const [running, tracer, tending] = [c.get(RunningWork), tracerOf(c), c.get(DomainsKey)];
    const tend = (domain: CustomDomain) =>
      running.during(named('check of', domain.host), () =>
        begun(tracer, workOn(domain), () => tending.tendDomain(domain)),
      );
    const [domains, clock, log] = [c.get(CustomDomains), c.get(Clock), c.get(LogKey)];
    return new DueDomains({ domains, tend, clock, log });
  });
  once(SecureSitesKey, (c) => {
    const { secureSites, sitesDueAt } = c.get(DomainsKey);
    return leasedJob(c, 'issue and renew certificates', asJob(secureSites), sitesDueAt);
  });
  once(PlanRenewalsKey, (c) => {
    const [domains, log] = [c.get(DomainsKey), c.get(LogKey)];
    const [dueDomains, secureSites] = [c.get(DueDomains), c.get(SecureSitesKey)];
    return leasedJob(c, 'plan renewals', async (isStopping) => {
      const { planned, ignored, nextAt } = await domains.planRenewals(isStopping);
      for (const window of ignored)
        log.warn(window, 'a renewal window of the authority makes no sense, ignored it');
      if (planned > 0) {
        dueDomains.news.ring();
        secureSites.news.ring();
      }
      return { nextAt };
    });
  });
  once(CensusKey, (c) => {
    const database = c.get(Database);
    return storedCensus(
      {
        ...{ domains: c.get(DomainsKey), sites: c.get(SitesKey), webhooks: c.get(WebhookCallsKey) },
        notifications: c.get(NotificationsKey),
        backups: () => backupTimes(database),
      },
      leased(c),
    );
  });
});

const workOn = ({ id, host, state }: CustomDomain): Beginning => ({
  name: 'tend domain',
  kind: 'internal',
  facts: {
    'animal_store.domain.id': id,
    'animal_store.domain.host': host,
    'animal_store.domain.state': state,
  },
});
