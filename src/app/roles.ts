import type { Container } from 'inversify';
import type { Logger } from 'pino';
import type { Dashboard } from '../adapters/dashboard/dashboard.ts';
import { StoredSignal } from '../kernel/signals.ts';
import { HttpServer } from '../adapters/http/listener/http-server.ts';
import {
  edgeMeasures,
  nameServerMeasures,
  platformMeasures,
} from '../adapters/http/metrics/measures.ts';
import {
  CounterKeeper,
  HighUseReporter,
  UsageRecorder,
} from '../adapters/metering/usage-recorder.ts';
import { S3SiteFiles } from '../adapters/storage/s3/s3-site-files.ts';
import { EventLoopWatch } from '../adapters/system/event-loop-watch.ts';
import { Clock } from '../kernel/ports.ts';
import { apiJobs } from './jobs.ts';
import {
  ConfigKey,
  DashboardKey,
  EdgeServerKey,
  MetricsKey,
  NameServerKey,
  OperationsKey,
  PlatformFilesKey,
  RedisSignalsKey,
  RouteTableKey,
} from './keys.ts';
import type { Config } from './settings/settings.ts';
import { SiteAddresses } from './settings/addresses.ts';
import type { Opened } from './stop-process.ts';
import { version } from './version.ts';
import { recallCounters } from './wiring/access.ts';
import { Draining } from './wiring/web.ts';
import { startJobs, startWorker, type RunningRole } from './worker.ts';

/** Starts the roles. @throws Error if one cannot start; `opened` stops the others */
export const startRoles = async (
  container: Container,
  log: Logger,
  opened: Opened,
): Promise<void> => {
  const config = container.get(ConfigKey);
  const { host, port, operationsPort, roles, redisUrl } = config;
  const running: RunningRole[] = [];
  const counting: RunningRole[] = [];
  // This stops last, because health checks must work until the end.
  const operations = operationsPort === undefined ? undefined : container.get(OperationsKey);
  const watch = container.get(EventLoopWatch);
  const draining = container.get(Draining);
  const listening: ListeningRole[] = [];
  const stop = async (drainSeconds: number, isReplaced?: AbortSignal): Promise<void> => {
    if (isReplaced && operations) listening.push(operations);
    if (!isReplaced) {
      for (const role of listening) role.announceEnd();
      await draining.begin(drainSeconds);
    }
    // They stop in parallel, because each may take half of the shutdown time.
    await Promise.all([...listening, ...running].map((role) => role.stop(isReplaced)));
    for (const role of counting) await role.stop();
    await operations?.stop();
    watch.stop();
  };
  opened.add(
    (isReplaced) => stop(config.drainSeconds, isReplaced),
    // Load balancers have not seen a failed start, so there is no need to wait for them.
    () => stop(0),
  );
  watch.start();
  await recallCounters(container);
  await container.get(SiteAddresses).recall();
  if (redisUrl !== undefined) container.get(RedisSignalsKey).listen();
  const server = container.get(HttpServer);
  await naming('HOST and ', 'PORT', () => server.listen(host, port));
  listening.push(
    roles.includes('dashboard') ? withDashboard(server, container.get(DashboardKey)) : server,
  );
  if (operations && operationsPort) {
    await naming('', 'OPERATIONS_PORT', () =>
      operations.listen(operationsPort.host, operationsPort.port),
    );
  }
  if (roles.includes('edge')) listening.push(await startEdge(container, config, log));
  if (roles.includes('dns')) listening.push(await startNameServer(container, config, log));
  if (roles.includes('api') || roles.includes('dashboard')) {
    counting.push(startCounting(container, config, log));
  }
  if (roles.includes('worker')) {
    running.push(startWorker(container, config, log));
  }
  // This is not awaited, because cached sites can be served meanwhile.
  container
    .get(S3SiteFiles, { optional: true })
    ?.reach()
    .catch((error: unknown) => {
      log.warn(
        { err: error },
        'the object store does not answer: deploys fail, and sites that are not in the cache',
      );
    });
  log.info({ version: version(), roles, host, port }, 'serving');
};

/** Closes live pages first, because they are endless requests. */
const withDashboard = (server: HttpServer, dashboard: Dashboard): ListeningRole => ({
  announceEnd: () => {
    server.announceEnd();
  },
  stop: (isReplaced) => {
    dashboard.close();
    return server.stop(isReplaced);
  },
});

const startCounting = (container: Container, { redisUrl }: Config, log: Logger): RunningRole => {
  const counters = redisUrl === undefined ? container.get(CounterKeeper) : undefined;
  const [usage, highUses] = [container.get(UsageRecorder), container.get(HighUseReporter)];
  const jobs = apiJobs(usage, highUses, counters);
  const cron = startJobs(container, jobs);
  return {
    stop: async () => {
      await cron.stop();
      for (const job of jobs) {
        await job
          .run(() => false)
          .catch((error: unknown) => {
            log.error({ job: job.name, err: error }, 'not stored before stopping');
          });
      }
    },
  };
};

const startEdge = async (
  container: Container,
  { edgeHost: host, edgeHttpPort: httpPort, edgeHttpsPort: httpsPort }: Config,
  log: Logger,
): Promise<ListeningRole> => {
  const edge = container.get(EdgeServerKey);
  const routes = container.get(RouteTableKey);
  const { files } = container.get(PlatformFilesKey);
  await files?.start();
  const ports = await naming('EDGE_HOST, ', 'EDGE_HTTP_PORT and EDGE_HTTPS_PORT', () =>
    edge.listen({ host, httpPort, httpsPort }),
  );
  await container
    .get(SiteAddresses)
    .publish(ports)
    .catch(async (error: unknown) => {
      await edge.stop();
      throw error;
    });
  const [metrics, clock] = [container.get(MetricsKey), container.get(Clock)];
  metrics.show(edgeMeasures, () => edge.state());
  metrics.show(platformMeasures, () => ({ its: routes.platformCertificate, now: clock.now() }));
  // The edge refreshes at once after changes by this process, and on signals from others. Without signals it polls.
  container.get(StoredSignal).listen(() => {
    routes.refresh().catch((error: unknown) => {
      log.debug({ err: error }, 'routes not refreshed; will retry');
    });
  });
  log.info({ host, ...ports, routes: routes.size }, 'edge serving');
  return edge;
};

const startNameServer = async (
  container: Container,
  { dnsHost: host, dnsPort, acmeDnsZone: zone }: Config,
  log: Logger,
): Promise<ListeningRole> => {
  const server = container.get(NameServerKey);
  const port = await naming('DNS_HOST and ', 'DNS_PORT', () => server.listen(host, dnsPort));
  container.get(MetricsKey).show(nameServerMeasures, () => server.state());
  log.info({ host, port, zone }, 'name server serving');
  return server;
};

/** @throws Error that names the settings to change if the address is not available */
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
    // The parent binds the address for its children, so the system call differs.
    if (syscall !== 'listen' && syscall !== 'bind') throw error;
    const where = `${address ?? ''}:${String(port)}`;
    const message =
      code === 'EADDRINUSE'
        ? `${where} is in use by another program; set ${portSetting} to a free one.`
        : `Cannot listen on ${where} (${code ?? 'unknown'}); set ${hostSetting}${portSetting}.`;
    throw new Error(message, { cause: error });
  }
};

interface ListeningRole extends RunningRole {
  /** Makes each answer close its connection, so that the client's next request reaches another process. */
  announceEnd(): void;
}
