import { setTimeout as delay } from 'node:timers/promises';
import type { ResolutionContext } from 'inversify';
import { statfs } from 'node:fs/promises';
import { IdempotencyKeys, AuditLog } from '../../access/ports.ts';
import { fixedHeaders } from '../../adapters/http/answer.ts';
import { api, answerRefused, type RefusedPorts } from '../../adapters/http/api.ts';
import { operationsHandler, type OperationsPorts } from '../../adapters/http/health.ts';
import { connectionLimits, HttpServer } from '../../adapters/http/listener/http-server.ts';
import {
  isPagePath,
  timed,
  webApp,
  type RequestHandler,
} from '../../adapters/http/request-handler.ts';
import { tracedRequests } from '../../adapters/http/request-lifecycle.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { migrationStates } from '../../adapters/kysely/migrations.ts';
import { UsageRecorder } from '../../adapters/metering/usage-recorder.ts';
import { Uploads } from '../../adapters/uploads/uploads.ts';
import { EventLoopWatch, RunningWork, watched } from '../../adapters/system/event-loop-watch.ts';
import { Acting, Clock, Deadline, Ids } from '../../kernel/ports.ts';
import {
  AccessKey,
  CatalogueKey,
  ConfigKey,
  DashboardKey,
  LogKey,
  MetricsKey,
  OperationsKey,
  PreviousSecretKeys,
  RedisCountersKey,
  RequestHandlerKey,
  SecretKey,
  SitesKey,
  DomainsKey,
  NotificationsKey,
  WebhookCallsKey,
} from '../keys.ts';
import { tracerOf } from '../tracing.ts';
import { SiteAddresses, dashboardOrigin } from '../settings/addresses.ts';
import { wiring } from './wiring.ts';
import {
  buildMeasures,
  diskMeasures,
  eventLoopMeasures,
  poolMeasures,
  redisMeasures,
} from '../../adapters/http/metrics/measures.ts';
import { Metrics } from '../../adapters/http/metrics/metrics.ts';
import { outboxMeasures } from '../../adapters/http/metrics/stored-measures.ts';
import { Outbox } from '../../kernel/queue.ts';
import { version } from '../version.ts';
import { dashboard, type Dashboard } from '../../adapters/dashboard/dashboard.ts';
import { StoredSignal } from '../../kernel/signals.ts';
import { addressBucket, clientAddress } from '../../adapters/http/listener/client-address.ts';
import { operationSunsets } from '../../adapters/http/operations/catalogue-operations.ts';
import { readDomainSettings, writeDomainSettings } from '../domain-settings/text.ts';

export const web = wiring((once) => {
  once(Draining, () => new Draining());
  once(MetricsKey, processMetrics);
  once(DashboardKey, dashboardOf);
  once(RequestHandlerKey, (c) => {
    const hasPages = c.get(ConfigKey).roles.includes('dashboard');
    const pages = hasPages ? c.get(DashboardKey) : undefined;
    const app = webApp(apiOf(c), pages, c.get(LogKey));
    const answer = watched(c.get(RunningWork), timed(c.get(Deadline), app.callback()));
    const tracer = tracerOf(c);
    return tracer ? tracedRequests(tracer, answer) : answer;
  });
  once(HttpServer, (c) => {
    const { roles, trustProxy } = c.get(ConfigKey);
    const [hasPages, servesApi] = [roles.includes('dashboard'), roles.includes('api')];
    const { all, ofNetwork } = connectionLimits;
    return new HttpServer(c.get(RequestHandlerKey), {
      answerRefusal: answerRefused(refusedPorts(c)),
      connections: { all, ofNetwork: trustProxy === 0 ? ofNetwork : undefined },
      isUpload: ({ url = '' }) =>
        (hasPages && /^\/dashboard\/projects\/[^/]+\/deploys$/.test(url)) ||
        (servesApi && /^\/deploys\/[^/]+$/.test(url)),
    });
  });
  once(OperationsKey, (c) => {
    const ports = { ...refusedPorts(c), servesApi: false, isPage: () => false };
    const handle = operationsHandler(operationsPorts(c));
    return new HttpServer(timed(c.get(Deadline), handle), { answerRefusal: answerRefused(ports) });
  });
});

const lifecyclePorts = (c: ResolutionContext) => ({
  clock: c.get(Clock),
  log: c.get(LogKey),
  metrics: c.get(MetricsKey),
  fixedHeaders: fixedHeaders(c.get(ConfigKey).publicUrl),
});

const refusedPorts = (c: ResolutionContext): RefusedPorts => {
  const { roles } = c.get(ConfigKey);
  return {
    ...lifecyclePorts(c),
    access: c.get(AccessKey),
    servesApi: roles.includes('api'),
    isPage: (path) => roles.includes('dashboard') && isPagePath(path),
  };
};

const operationsPorts = (c: ResolutionContext): OperationsPorts => {
  const { redisUrl } = c.get(ConfigKey);
  const database = c.get(Database);
  const usage = c.get(UsageRecorder);
  const draining = c.get(Draining);
  const redis = redisUrl === undefined ? undefined : c.get(RedisCountersKey);
  return {
    ...lifecyclePorts(c),
    onAnswered: usage.record.bind(usage),
    isStopping: () => draining.hasBegun,
    dependencies: [
      { name: 'database', check: () => database.ping() },
      { name: 'migrations', check: () => upToDate(database) },
      ...(redis ? [{ name: 'redis', check: () => redis.ping() }] : []),
    ],
  };
};

const apiOf = (c: ResolutionContext): RequestHandler => {
  const config = c.get(ConfigKey);
  const ports = {
    ...operationsPorts(c),
    access: c.get(AccessKey),
    catalogue: c.get(CatalogueKey),
    deploys: { sites: c.get(SitesKey), uploads: c.get(Uploads), addresses: c.get(SiteAddresses) },
    idempotencyKeys: c.get(IdempotencyKeys),
    acting: c.get(Acting),
    deadline: c.get(Deadline),
  };
  const settings = {
    ...config,
    secretKeys: [c.get(SecretKey), ...c.get(PreviousSecretKeys)] as const,
    servesApi: config.roles.includes('api'),
  };
  return api(ports, settings);
};

const upToDate = async (database: Database): Promise<void> => {
  const states = await database.run(() => migrationStates(database));
  const pending = states.filter((one) => !one.executedAt);
  if (pending.length > 0) {
    throw new Error(`not applied: ${pending.map((one) => one.name).join(', ')}`);
  }
};

/** Reports the coming stop through /readyz, so that load balancers leave before it stops listening. */
export class Draining {
  #hasBegun = false;

  async begin(seconds: number): Promise<void> {
    this.#hasBegun = true;
    if (seconds > 0) await delay(seconds * 1000);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }
}

const processMetrics = (c: ResolutionContext): Metrics => {
  const metrics = new Metrics();
  const { dataDir, redisUrl } = c.get(ConfigKey);
  const [watch, database] = [c.get(EventLoopWatch), c.get(Database)];
  metrics.show(buildMeasures, () => ({ version: version(), node: process.versions.node }));
  metrics.show(eventLoopMeasures, () => watch.state());
  metrics.show(poolMeasures, () => database.engine.connections.load());
  metrics.show(diskMeasures, () => statfs(dataDir));
  showOutbox(metrics, c.get(Outbox), c.get(Clock));
  if (redisUrl !== undefined) {
    const counters = c.get(RedisCountersKey);
    metrics.show(redisMeasures, () => counters);
  }
  return metrics;
};

/** Each process reads this at each scrape, because deliveries pile up when no worker runs. */
export const showOutbox = (
  metrics: Metrics,
  outbox: Pick<Outbox, 'state' | 'oldest'>,
  clock: Clock,
): void => {
  metrics.show(outboxMeasures, async () => ({
    counts: { ...(await outbox.state()) },
    oldest: { ...(await outbox.oldest()) },
    now: clock.now(),
  }));
};

const dashboardOf = (c: ResolutionContext): Dashboard => {
  const config = c.get(ConfigKey);
  const signal = c.get(StoredSignal);
  const metrics = c.get(MetricsKey);
  const addresses = c.get(SiteAddresses);
  return dashboard({
    access: c.get(AccessKey),
    catalogue: c.get(CatalogueKey),
    sites: c.get(SitesKey),
    domains: c.get(DomainsKey),
    uploads: c.get(Uploads),
    notifications: c.get(NotificationsKey),
    webhooks: c.get(WebhookCallsKey),
    auditLog: c.get(AuditLog),
    idempotencyKeys: c.get(IdempotencyKeys),
    acting: c.get(Acting),
    clock: c.get(Clock),
    deadline: c.get(Deadline),
    ids: c.get(Ids),
    log: c.get(LogKey),
    onAnswered: (status, seconds) => {
      metrics.observe('dashboard', status, seconds);
    },
    onStored: (listener) => signal.listen(listener),
    domainSettings: { read: readDomainSettings, write: writeDomainSettings },
    networkOf: ({ peer, forwardedFor }) =>
      addressBucket(clientAddress(peer, forwardedFor, config.trustProxy)),
    settings: {
      origin: dashboardOrigin(config),
      platformHost: config.platformHost,
      acmeDnsZone: config.acmeDnsZone,
      siteUrl: (slug) => addresses.urlOf(slug),
      previewUrl: (slug, number) => addresses.previewOf(slug, number),
      deprecated: operationSunsets,
      apiUrl: config.publicUrl,
      knowsCounts: config.roles.includes('api') || config.redisUrl !== undefined,
    },
  });
};
