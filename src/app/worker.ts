import { setFlagsFromString } from 'node:v8';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { MailPump } from '../adapters/schedule/mail-pump.ts';
import type { SleepOptions } from '../adapters/schedule/cron-jobs.ts';
import { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import { StoredSignal } from '../adapters/events/stored-signal.ts';
import { DueDomains } from '../adapters/schedule/due-domains.ts';
import { WebhookPump } from '../adapters/schedule/webhook-pump.ts';
import { Clock } from '../kernel/clock.ts';
import { Retention } from '../kernel/retention.ts';
import { workerJobs } from './jobs.ts';
import {
  CensusKey,
  DomainsKey,
  MailPeopleKey,
  NotificationsKey,
  MetricsKey,
  PlanRenewalsKey,
  SecureSitesKey,
  SitesKey,
  WarnOfRemovalsKey,
} from './keys.ts';
import { showCensus } from './measures/show-census.ts';
import type { RunningRole } from './running-role.ts';
import type { Config } from './settings/config.ts';
import { startJobs } from './start-jobs.ts';

/** The role `worker`: jobs, and deliveries of events. */
export const startWorker = (
  container: Container,
  { verifierSchedule }: Config,
  log: Logger,
  sleep: SleepOptions = {},
): RunningRole => {
  letHeapGrow();
  const mailPeople = container.get(MailPeopleKey);
  const ports = {
    relay: container.get(OutboxRelay),
    retention: container.get(Retention),
    sites: container.get(SitesKey),
    domains: container.get(DomainsKey),
    secureSites: container.get(SecureSitesKey),
    planRenewals: container.get(PlanRenewalsKey),
    warnOfRemovals: container.get(WarnOfRemovalsKey),
    mailPump: container.get(MailPump, { optional: true }),
    mailPeople: container.get(NotificationsKey).isMailOn ? mailPeople : undefined,
    webhookPump: container.get(WebhookPump),
    dueDomains: container.get(DueDomains),
    census: container.get(CensusKey),
    clock: container.get(Clock),
    verifierSchedule,
  };
  const { relay, dueDomains, secureSites, planRenewals, census } = ports;
  const { warnOfRemovals, mailPump, webhookPump } = ports;
  showCensus(container.get(MetricsKey), census);
  container.get(StoredSignal).listen((_accountIds, hasDeliveries) => {
    dueDomains.news.ring('soon');
    planRenewals.news.ring();
    if (!hasDeliveries) return;
    relay.news.ring();
    mailPump?.news.ring();
  });
  const cron = startJobs(container, workerJobs(ports), sleep);
  return {
    stop: async () => {
      // Stopped together: the jobs wait for these, which would otherwise continue until nothing is due.
      const leased = [secureSites, planRenewals, warnOfRemovals];
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
