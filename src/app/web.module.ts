import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { ContainerModule, type ResolutionContext } from 'inversify';
import { AuditLog, IdempotencyKeys } from '../access/ports.ts';
import { archiveSource } from '../adapters/archives/archive-source.ts';
import { dashboard, type Dashboard } from '../adapters/dashboard/dashboard.ts';
import { StoredSignal } from '../adapters/events/stored-signal.ts';
import { apiApp } from '../adapters/http/api.ts';
import { addressBucket, clientAddress } from '../adapters/http/client-address.ts';
import type { AnsweredRequest } from '../adapters/http/framing.ts';
import { HttpServer } from '../adapters/http/http-server.ts';
import { Metrics } from '../adapters/http/metrics.ts';
import { operationSunsets } from '../adapters/http/pet-operations.ts';
import { Database } from '../adapters/kysely/database.ts';
import { migrationStates } from '../adapters/kysely/migrations.ts';
import { UsageRecorder } from '../adapters/metering/usage-recorder.ts';
import { RedisQuotaCounters } from '../adapters/redis/redis-quota-counters.ts';
import { Acting } from '../kernel/acting.ts';
import { Clock } from '../kernel/clock.ts';
import { Ids } from '../kernel/ids.ts';
import { Outbox } from '../kernel/outbox.ts';
import { domainLimits } from '../sites/domain/domain-admission.ts';
import { dashboardOrigin, siteUrl } from './addresses.ts';
import { readDomainSettings, writeDomainSettings } from './domain-settings-text.ts';
import {
  AccessKey,
  CatalogueKey,
  ConfigKey,
  DashboardKey,
  LogKey,
  SecretKey,
  SitesKey,
} from './keys.ts';

/**
 * One HTTP server: the dashboard from /dashboard on, and at / for browsers; the API and the measures everywhere else.
 */
export const web = new ContainerModule(({ bind }) => {
  bind(Metrics)
    .toDynamicValue((c) => new Metrics(c.get(Outbox)))
    .inSingletonScope();
  bind(DashboardKey).toDynamicValue(dashboardOf).inSingletonScope();
  bind(HttpServer)
    .toDynamicValue((c) => {
      const api = apiOf(c).callback();
      if (!c.get(ConfigKey).roles.includes('dashboard')) return new HttpServer(api);
      const pages = c.get(DashboardKey).app.callback();
      return new HttpServer(
        (request, response) => (isPage(request) ? pages : api)(request, response),
        { isUpload: ({ url = '' }) => /^\/dashboard\/projects\/[^/]+\/deploys$/.test(url) },
      );
    })
    .inSingletonScope();
});

const isPage = ({ method = '', url = '', headers }: IncomingMessage): boolean =>
  /^\/dashboard([/?]|$)/.test(url) ||
  (/^\/(\?|$)/.test(url) && ['GET', 'HEAD'].includes(method) && prefersPages(headers.accept));

/** Browsers name HTML among what they accept; clients of the API take JSON, or anything. */
const prefersPages = (accept = ''): boolean => /\btext\/html\b/i.test(accept);

const apiOf = (c: ResolutionContext) => {
  const config = c.get(ConfigKey);
  const database = c.get(Database);
  const usage = c.get(UsageRecorder);
  const ports = {
    access: c.get(AccessKey),
    catalogue: c.get(CatalogueKey),
    idempotencyKeys: c.get(IdempotencyKeys),
    acting: c.get(Acting),
    clock: c.get(Clock),
    metrics: c.get(Metrics),
    log: c.get(LogKey),
    onAnswered: (request: AnsweredRequest) => {
      usage.record(request);
    },
    dependencies: [
      { name: 'database', check: () => database.ping() },
      { name: 'migrations', check: () => upToDate(database) },
      ...(config.redisUrl === undefined
        ? []
        : [{ name: 'redis', check: () => c.get(RedisQuotaCounters).ping() }]),
    ],
  };
  const settings = {
    ...config,
    secretKey: c.get(SecretKey),
    servesApi: config.roles.includes('api'),
  };
  return apiApp(ports, settings);
};

const dashboardOf = (c: ResolutionContext): Dashboard => {
  const config = c.get(ConfigKey);
  const signal = c.get(StoredSignal);
  const metrics = c.get(Metrics);
  return dashboard({
    access: c.get(AccessKey),
    catalogue: c.get(CatalogueKey),
    sites: c.get(SitesKey),
    auditLog: c.get(AuditLog),
    idempotencyKeys: c.get(IdempotencyKeys),
    acting: c.get(Acting),
    clock: c.get(Clock),
    ids: c.get(Ids),
    log: c.get(LogKey),
    onAnswered: (status, seconds) => {
      metrics.observe('dashboard', status, seconds);
    },
    onStored: (listener) => signal.listen(listener),
    openArchive: archiveSource,
    domainSettings: { read: readDomainSettings, write: writeDomainSettings },
    networkOf: ({ peer, forwardedFor }) =>
      addressBucket(clientAddress(peer, forwardedFor, config.trustProxy)),
    settings: {
      origin: dashboardOrigin(config),
      platformHost: config.platformHost,
      siteUrl: (slug) => siteUrl(slug, config),
      uploadFolder: join(config.dataDir, 'uploads'),
      deprecated: operationSunsets,
      apiUrl: config.publicUrl,
      customDomains: { ...domainLimits, enterprise: config.enterpriseDomainLimit },
      knowsCounts: config.roles.includes('api') || config.redisUrl !== undefined,
    },
  });
};

const upToDate = async (database: Database): Promise<void> => {
  const states = await database.run(() => migrationStates(database));
  const pending = states.filter((one) => !one.executedAt);
  if (pending.length > 0) {
    throw new Error(`not applied: ${pending.map((one) => one.name).join(', ')}`);
  }
};
