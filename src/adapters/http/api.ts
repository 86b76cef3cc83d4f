import { randomUUID } from 'node:crypto';
import pTimeout from 'p-timeout';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { aliveRoute, operationsRoutes, type OperationsPorts } from './health.ts';
import { Cursors, type SecretKeys } from './operations/cursors.ts';
import type { Operation } from './operations/operation.ts';
import { operationRoute, type RoutePorts } from './operations/operation-route.ts';
import { deployOperations, type DeployRoutes } from './operations/deploy-operations.ts';
import { catalogueOperations } from './operations/catalogue-operations.ts';
import { meter, type MeteringPorts, rateLimitHeaders, withNothingLeft } from './rate-limits.ts';
import { referenceRoutes } from './reference/reference-routes.ts';
import { requestHandler, type RequestHandler } from './request-handler.ts';
import type { Answer } from './answer.ts';
import type { RequestContext, LifecyclePorts } from './request-lifecycle.ts';
import type { Access } from '../../access/access.ts';
import { planLimits } from '../../access/domain/quota.ts';
import { shownPath } from '../../kernel/text.ts';
import { addressBucket } from './listener/client-address.ts';
import { answerTo } from './error-table.ts';
import type { AnswerRefusal, Refusal } from './listener/broken-requests.ts';

interface ApiSettings {
  /** Absolute URL with the version segment, without a trailing slash. */
  readonly publicUrl: string;
  readonly stagingUrl: string | undefined;
  /** The first one signs cursors; cursors signed with the others stay valid. */
  readonly secretKeys: SecretKeys;
  /** Origins whose pages may call the API from a browser; none by default. */
  readonly corsOrigins: readonly string[];
  readonly trustProxy: number;
  /** Whether this process serves the API, or only health and metrics. */
  readonly servesApi: boolean;
  /** If set, readiness and metrics are served there instead of here. */
  readonly operationsPort: { readonly port: number } | undefined;
}

interface ApiPorts
  extends Omit<RoutePorts, 'baseUrl'>, Omit<MeteringPorts, 'trustProxy'>, OperationsPorts {
  readonly catalogue: Catalogue;
  readonly deploys: Omit<DeployRoutes, 'access' | 'idempotencyKeys' | 'clock'>;
}

/** Handles all requests except those for pages: the API, its reference, health and metrics. */
export const api = (ports: ApiPorts, settings: ApiSettings): RequestHandler => {
  const { servesApi, corsOrigins, operationsPort } = settings;
  const operations = servesApi ? operationsOf(ports, settings) : [];
  const deploys = servesApi ? deployOperations({ ...ports, ...ports.deploys }) : [];
  const routePorts = { ...ports, baseUrl: settings.publicUrl };
  const routes = [
    ...operations.map((one) => operationRoute(one, routePorts)),
    ...deploys.map((one) => operationRoute(one, routePorts, '/deploys')),
    ...(servesApi ? referenceRoutes(operations, settings) : []),
    aliveRoute,
    ...(operationsPort === undefined ? operationsRoutes(ports) : []),
  ];
  const hasOrigins = corsOrigins.length > 0;
  const fixedHeaders = { ...ports.fixedHeaders, ...(hasOrigins && { Vary: 'Origin' }) };
  const metering = { ...ports, trustProxy: settings.trustProxy };
  return requestHandler({ ...ports, fixedHeaders }, routes, {
    ...(servesApi && { meter: (context) => meter(context, metering) }),
    ...(hasOrigins && { crossOrigin: crossOrigin(corsOrigins) }),
  });
};

const operationsOf = (ports: ApiPorts, settings: ApiSettings): readonly Operation[] => {
  const baseUrl = settings.publicUrl;
  const routes = { catalogue: ports.catalogue, cursors: new Cursors(settings.secretKeys), baseUrl };
  return catalogueOperations(routes);
};

const preflightHeaders = {
  'Access-Control-Max-Age': '600',
  'Access-Control-Allow-Methods': 'GET,HEAD,POST,OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization,Content-Type,Idempotency-Key',
};

const exposed = [
  'Deprecation',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(',');

/** Fetch standard, "CORS protocol". @param origins as sent by browsers; `*` allows any @returns a preflight's answer */
const crossOrigin = (
  origins: readonly string[],
): ((context: RequestContext) => Answer | undefined) => {
  const isAny = origins.includes('*');
  return (context) => {
    const { headers } = context.request;
    const { origin } = headers;
    if (origin === undefined || origin === '') return undefined;
    if (!isAny && !origins.includes(origin)) return undefined;
    if (context.method !== 'OPTIONS') {
      context.headers.push('Access-Control-Allow-Origin', origin);
      context.headers.push('Access-Control-Expose-Headers', exposed);
      return undefined;
    }
    if (!headers['access-control-request-method']) return undefined;
    context.headers.push('Access-Control-Allow-Origin', origin);
    return { status: 204, headers: preflightHeaders, body: undefined };
  };
};

export interface RefusedPorts extends Omit<LifecyclePorts, 'onAnswered'> {
  readonly access: Access;
  readonly servesApi: boolean;
  readonly isPage: (path: string) => boolean;
}

const longestLookMs = 250;

/**
 * Answers a request that no application sees, with everything that other answers have: id, the address's limits, log
 * line and metric. It counts against no quota, because operation and caller are unknown. If the path is unknown too,
 * the answer is the API's.
 */
export const answerRefused =
  (ports: RefusedPorts): AnswerRefusal =>
  async (refusal) => {
    const requestId = randomUUID();
    const isPage = refusal.path !== undefined && ports.isPage(refusal.path);
    const answer = isPage ? pageOf(refusal) : answerTo(refusal.error);
    const hasLimits = ports.servesApi && !isPage;
    const limits = hasLimits ? await limitsOf(refusal.peer, ports) : {};
    const { status } = answer;
    const { method, path, reason } = refusal;
    ports.metrics.observe(isPage ? 'dashboard' : 'none', status, 0);
    const shown = { method, path: path === undefined ? undefined : shownPath(path) };
    ports.log.info({ requestId, ...shown, status, ms: 0, reason });
    const headers = { 'X-Request-Id': requestId, ...ports.fixedHeaders, ...limits };
    return { ...answer, headers: { ...headers, ...answer.headers } };
  };

const limitsOf = async (
  peer: string,
  { access, clock }: RefusedPorts,
): Promise<Readonly<Record<string, string>>> => {
  const now = clock.now();
  const verdict = await pTimeout(access.peekAddress(addressBucket(peer)), {
    milliseconds: longestLookMs,
    fallback: () => undefined,
  }).catch(() => undefined);
  return rateLimitHeaders(verdict ?? withNothingLeft(planLimits.free, now), now);
};

/** The messages are our own texts and contain no part of the request. */
const pageOf = ({ error }: Refusal): Answer => {
  const { status, headers } = answerTo(error);
  return {
    status,
    headers: {
      ...headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    },
    body: `<!doctype html><html lang="en"><title>Request refused</title><h1>Request refused</h1><p>${escaped(error.message)}</p></html>\n`,
  };
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
