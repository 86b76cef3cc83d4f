import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { MailPump } from '../adapters/schedule/mail-pump.ts';
import { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import { StoredSignal } from '../adapters/events/stored-signal.ts';
import { DueDomains } from '../adapters/schedule/due-domains.ts';
import { WebhookPump } from '../adapters/schedule/webhook-pump.ts';
import { Clock } from '../kernel/clock.ts';
import { Retention } from '../kernel/retention.ts';
import { workerJobs } from './jobs.ts';
import {
  AccessKey,
  CensusKey,
  DomainsKey,
  MailPeopleKey,
  NotificationsKey,
  MetricsKey,
  PlanRenewalsKey,
  SecureSitesKey,
  SitesKey,
  WatchDomainsKey,
  WatchRemovalsKey,
} from './keys.ts';
import { showCensus } from './measures/show-census.ts';
import type { RunningRole } from './running-role.ts';
import type { Config } from './settings/config.ts';
import { startJobs } from './start-jobs.ts';

/** Of the job that mails people. */
const mostJitterMs = 800;

/** The role `worker`: jobs, and deliveries of events. */
export const startWorker = (
  container: Container,
  { verifierSchedule }: Config,
  log: Logger,
): RunningRole => {
  letHeapGrow();
  const ports = {
    relay: container.get(OutboxRelay),
    retention: container.get(Retention),
    sites: container.get(SitesKey),
    domains: container.get(DomainsKey),
    secureSites: container.get(SecureSitesKey),
    planRenewals: container.get(PlanRenewalsKey),
    watchDomains: container.get(WatchDomainsKey),
    watchRemovals: container.get(WatchRemovalsKey),
    mailPump: container.get(MailPump, { optional: true }),
    mailPeople: mailingPeople(container),
    webhookPump: container.get(WebhookPump),
    dueDomains: container.get(DueDomains),
    census: container.get(CensusKey),
    clock: container.get(Clock),
    verifierSchedule,
  };
  const { relay, dueDomains, secureSites, planRenewals, census } = ports;
  const { watchDomains, watchRemovals, mailPump, webhookPump } = ports;
  const mailPeople = container.get(MailPeopleKey);
  showCensus(container.get(MetricsKey), census);
  container.get(StoredSignal).listen((_accountIds, hasDeliveries) => {
    if (!hasDeliveries) return;
    relay.run().catch((error: unknown) => {
      log.warn({ err: error }, 'relay stopped, will run again on its schedule');
    });
    mailPump?.run().catch((error: unknown) => {
      log.warn({ err: error }, 'search for due mail failed, will be retried');
    });
  });
  const cron = startJobs(container, workerJobs(ports), log);
  return {
    stop: async () => {
      // Stopped together: the jobs wait for these, which would otherwise continue until nothing is due.
      const leased = [secureSites, planRenewals, watchDomains, watchRemovals];
      const mail = [...(mailPump ? [mailPump] : []), mailPeople];
      const others = [webhookPump, ...mail];
      await Promise.all([cron, relay, dueDomains, ...leased, ...others].map((one) => one.stop()));
      // Otherwise another worker waits until the lease ends.
      await census.stop().catch((error: unknown) => {
        log.debug({ err: error }, 'lease of a job not released');
      });
    },
  };
};

/**
 * Many checks of domains at once keep much alive for a while, and V8 moves it to the old generation. With the small heap
 * that the program starts with, V8 then marks all of it again and again.
 */
const letHeapGrow = (): void => {
  setFlagsFromString('--heap-growing-percent=0');
};

/**
 * Waits a random time first, and nothing that happens wakes it: when it works for a known address, and so slows down other
 * answers of the process, says nothing about a single request. Whether there is something to answer needs no lease.
 * @returns undefined where no mail is sent
 */
const mailingPeople = (container: Container): (() => Promise<boolean>) | undefined => {
  if (!container.get(NotificationsKey).isMailOn) return undefined;
  const [access, job] = [container.get(AccessKey), container.get(MailPeopleKey)];
  return async () => {
    await delay(Math.random() * mostJitterMs);
    return !(await access.hasMailRequests()) || job.run();
  };
};
