import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ResolutionContext } from 'inversify';
import Koa from 'koa';
import { statfs } from 'node:fs/promises';
import { IdempotencyKeys } from '../../access/ports.ts';
import { fixedHeaders } from '../../adapters/http/answer.ts';
import { api, answerRefused, type RefusedPorts } from '../../adapters/http/api.ts';
import { operationsHandler, type OperationsPorts } from '../../adapters/http/health.ts';
import {
  connectionLimits,
  HttpServer,
  type Handler,
  type Response,
} from '../../adapters/http/listener/http-server.ts';
import type { RequestHandler } from '../../adapters/http/request-handler.ts';
import { requestTarget, tracedRequests } from '../../adapters/http/request-lifecycle.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { migrationStates } from '../../adapters/kysely/migrations.ts';
import { UsageRecorder } from '../../adapters/metering/usage-recorder.ts';
import { Uploads } from '../../adapters/uploads/uploads.ts';
import { RunningWork, type Work, EventLoopWatch } from '../../adapters/system/event-loop-watch.ts';
import { Acting, Clock, Deadline } from '../../kernel/ports.ts';
import { shownPath } from '../../kernel/text.ts';
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
} from '../keys.ts';
import { tracerOf } from '../tracing.ts';
import { SiteAddresses } from '../settings/addresses.ts';
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

export const web = wiring((once) => {
  once(Draining, () => new Draining());
  once(MetricsKey, processMetrics);
  once(RequestHandlerKey, (c) => {
    const answer = watched(c.get(RunningWork), timed(c.get(Deadline), webApp(c).callback()));
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

/** One Koa application: the dashboard from /dashboard and, for browsers, at /; the API and metrics elsewhere. */
const webApp = (c: ResolutionContext): Koa => {
  const [log, answerApi] = [c.get(LogKey), apiOf(c)];
  const hasPages = c.get(ConfigKey).roles.includes('dashboard');
  const app = new Koa();
  app.use((ctx, next) => {
    if (hasPages && isPage(ctx.req)) return next();
    // The API writes its answers with one `writeHead`, which is much faster than Koa's single headers.
    ctx.respond = false;
    return answerApi(ctx.req, ctx.res as Response);
  });
  if (hasPages) c.get(DashboardKey).addTo(app);
  // Only broken connections get here.
  app.on('error', (error: unknown) => {
    log.debug({ err: error }, 'connection failed');
  });
  return app;
};

const isPagePath = (path: string): boolean => /^\/dashboard([/?]|$)/.test(path);

const isPage = ({ method = '', url = '', headers }: IncomingMessage): boolean =>
  isPagePath(url) ||
  (/^\/(\?|$)/.test(url) && ['GET', 'HEAD'].includes(method) && prefersPages(headers.accept));

/** Browsers accept HTML; API clients accept JSON or anything. */
const prefersPages = (accept = ''): boolean => /\btext\/html\b/i.test(accept);

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
    onAnswered: (request) => {
      usage.record(request);
    },
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

/** Starts each request's deadline when its turn comes, after its headers were read. */
const timed =
  (deadline: Deadline, handle: RequestHandler): RequestHandler =>
  (request, response) =>
    deadline.during(() => handle(request, response));

type Request = Pick<IncomingMessage, 'method' | 'url'>;

export const watched =
  (running: RunningWork, handle: Handler): Handler =>
  (request, response) => {
    const work = requestWork(request, response);
    running.begin(work);
    response.once('close', () => {
      running.end(work);
    });
    return handle(request, response);
  };

const requestWork = (
  request: Request,
  response: Pick<Response, 'getHeader' | 'requestId'>,
): Work => ({
  describe: () => {
    const id = response.requestId ?? response.getHeader('X-Request-Id');
    return `request ${inWords(request)}${typeof id === 'string' ? ` (${id})` : ''}`;
  },
});

/** Notes a request to a published site, which is too short to track. */
export const visit = (request: Request): Work => ({
  describe: () => `visit ${inWords(request)}`,
});

const inWords = ({ method = '', url = '' }: Request): string =>
  `${method} ${shownPath(requestTarget(url).path)}`;

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

/** Read at each scrape by each process, because deliveries pile up when no worker runs. */
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
