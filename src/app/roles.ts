import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import { StoredSignal } from '../adapters/events/stored-signal.ts';
import { HttpServer } from '../adapters/http/listener/http-server.ts';
import { CounterKeeper } from '../adapters/metering/counter-keeper.ts';
import { UsageRecorder } from '../adapters/metering/usage-recorder.ts';
import { CronJobs } from '../adapters/schedule/cron-jobs.ts';
import { DueDomains } from '../adapters/schedule/due-domains.ts';
import { EventLoopWatch } from '../adapters/system/event-loop-watch.ts';
import { RunningWork } from '../adapters/system/running-work.ts';
import { Clock } from '../kernel/clock.ts';
import { Retention } from '../kernel/retention.ts';
import type { Config } from './settings/config.ts';
import { apiJobs, workerJobs } from './jobs.ts';
import { Draining } from './draining.ts';
import {
  DashboardKey,
  EdgeServerKey,
  MetricsKey,
  OperationsKey,
  PlanRenewalsKey,
  RedisSignalsKey,
  RouteTableKey,
  SecureSitesKey,
  SitesKey,
} from './keys.ts';
import { recallCounters } from './known-counters.ts';
import { SiteAddresses } from './site-addresses.ts';
import { version } from './version.ts';
import { watchedJobs } from './watched-work.ts';

/** One role at work. Stopping waits for what is under way. */
interface RunningRole {
  stop(): Promise<void>;
}

/**
 * Starts the roles of this process.
 * @returns a function that stops them after the requests under way
 * @throws Error when one cannot start; those that did are stopped
 */
export const startRoles = async (
  container: Container,
  config: Config,
  log: Logger,
): Promise<() => Promise<void>> => {
  const { host, port, operationsHost, operationsPort, roles, redisUrl } = config;
  const running: RunningRole[] = [];
  // Health checks must work until the end, so it stops last.
  const operations = operationsPort === undefined ? undefined : container.get(OperationsKey);
  const watch = container.get(EventLoopWatch);
  watch.start();
  container.get(MetricsKey).watchEventLoop(() => watch.state());
  const stop = async (drainSeconds = 0): Promise<void> => {
    await container.get(Draining).begin(drainSeconds);
    for (const role of running) await role.stop();
    await operations?.stop();
    watch.stop();
    await container.unbindAllAsync();
  };
  try {
    await recallCounters(container);
    await container.get(SiteAddresses).recall();
    if (redisUrl !== undefined) container.get(RedisSignalsKey).listen();
    const server = container.get(HttpServer);
    await naming('HOST', 'PORT', () => server.listen(host, port));
    running.push(roles.includes('dashboard') ? withDashboard(server, container) : server);
    if (operations && operationsPort !== undefined) {
      await naming('OPERATIONS_HOST', 'OPERATIONS_PORT', () =>
        operations.listen(operationsHost, operationsPort),
      );
    }
    if (roles.includes('edge')) running.push(await startEdge(container, config, log));
    if (roles.includes('api') || roles.includes('dashboard')) {
      running.push(startCounting(container, config, log));
    }
    if (roles.includes('worker')) running.push(startWorker(container, config, log));
  } catch (error) {
    await stop();
    throw error;
  }
  log.info({ version: version(), roles, host, port }, 'serving');
  return () => stop(config.drainSeconds);
};

/** Live pages are requests that never end, so they are closed first. */
const withDashboard = (server: HttpServer, container: Container): RunningRole => ({
  stop: () => {
    container.get(DashboardKey).close();
    return server.stop();
  },
});

const startCounting = (container: Container, { redisUrl }: Config, log: Logger): RunningRole => {
  const counters = redisUrl === undefined ? container.get(CounterKeeper) : undefined;
  const jobs = apiJobs(container.get(UsageRecorder), counters);
  const cron = new CronJobs(watchedJobs(container.get(RunningWork), jobs), log);
  return {
    stop: async () => {
      await cron.stop();
      for (const job of jobs) {
        await job.run().catch((error: unknown) => {
          log.error({ job: job.name, err: error }, 'could not be stored before stopping');
        });
      }
    },
  };
};

const startWorker = (
  container: Container,
  { verifierSchedule }: Config,
  log: Logger,
): RunningRole => {
  const ports = {
    relay: container.get(OutboxRelay),
    retention: container.get(Retention),
    sites: container.get(SitesKey),
    secureSites: container.get(SecureSitesKey),
    planRenewals: container.get(PlanRenewalsKey),
    dueDomains: container.get(DueDomains),
    clock: container.get(Clock),
    verifierSchedule,
  };
  const { relay, dueDomains, secureSites, planRenewals } = ports;
  container.get(StoredSignal).listen((_accountIds, hasDeliveries) => {
    if (!hasDeliveries) return;
    relay.run().catch((error: unknown) => {
      log.warn({ err: error }, 'relay stopped, will run again on its schedule');
    });
  });
  const cron = new CronJobs(watchedJobs(container.get(RunningWork), workerJobs(ports)), log);
  return {
    stop: async () => {
      // Stopped together: the jobs wait for these, which would otherwise continue until nothing is due.
      const working = [relay, dueDomains, secureSites, planRenewals];
      await Promise.all([cron, ...working].map((one) => one.stop()));
    },
  };
};

const startEdge = async (
  container: Container,
  { edgeHost: host, edgeHttpPort: httpPort, edgeHttpsPort: httpsPort }: Config,
  log: Logger,
): Promise<RunningRole> => {
  const edge = container.get(EdgeServerKey);
  const routes = container.get(RouteTableKey);
  const ports = await naming('EDGE_HOST', 'EDGE_HTTP_PORT and EDGE_HTTPS_PORT', () =>
    edge.listen({ host, httpPort, httpsPort }),
  );
  await container
    .get(SiteAddresses)
    .publish(ports.https)
    .catch(async (error: unknown) => {
      await edge.stop();
      throw error;
    });
  container.get(MetricsKey).watchEdge(() => edge.state());
  // What this process stores is served at once; what others store, when they tell of it, or at the next look.
  container.get(StoredSignal).listen(() => {
    routes.refresh().catch((error: unknown) => {
      log.debug({ err: error }, 'routes not refreshed; will retry');
    });
  });
  log.info({ host, ...ports, routes: routes.size }, 'edge serving');
  return edge;
};

/** @throws Error that says which settings to change when the address cannot be had */
const naming = async <T>(
  hostSetting: string,
  portSetting: string,
  listen: () => Promise<T>,
): Promise<T> => {
  try {
    return await listen();
  } catch (error) {
    const { code, syscall, address, port } = error as NodeJS.ErrnoException & {
      readonly address?: string;
      readonly port?: number;
    };
    if (syscall !== 'listen') throw error;
    const where = `${address ?? ''}:${String(port)}`;
    const message =
      code === 'EADDRINUSE'
        ? `${where} is in use by another program; set ${portSetting} to a free one.`
        : `Cannot listen on ${where} (${code ?? 'unknown'}); set ${hostSetting} and ${portSetting}.`;
    throw new Error(message, { cause: error });
  }
};
