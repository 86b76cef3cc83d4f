import type { IncomingMessage } from 'node:http';
import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { direct } from './direct.ts';
import { Framing } from './framing.ts';
import { aliveRoute, operationsRoutes, type OperationsPorts } from './health.ts';
import { exchangeOf, koaApp } from './koa-app.ts';
import type { Handler } from './listener/http-server.ts';
import { Cursors, type SecretKeys } from './operations/cursor.ts';
import type { Exchange } from './operations/exchange.ts';
import { isCounted, measure, type MeteringPorts } from './operations/metering.ts';
import type { Operation } from './operations/operation.ts';
import { operationRoute, type RoutePorts } from './operations/operation-route.ts';
import { orderOperations } from './operations/order-operations.ts';
import { petOperations } from './operations/pet-operations.ts';
import { finding } from './operations/routing.ts';
import { referenceRoutes } from './reference/reference-routes.ts';

export interface ApiSettings {
  /** Absolute, with the version segment, without a slash at its end. */
  readonly publicUrl: string;
  readonly stagingUrl: string | undefined;
  /** The first one signs cursors; cursors signed with the others stay valid. */
  readonly secretKeys: SecretKeys;
  /** Origins whose pages may call the API from a browser; none by default. */
  readonly corsOrigins: readonly string[];
  /** How many proxies' X-Forwarded-For to believe. */
  readonly trustProxy: number;
  /** Whether this process serves the API, or only health and metrics. */
  readonly servesApi: boolean;
  /** If set, readiness and metrics are served there instead of here. */
  readonly operationsPort: { readonly port: number } | undefined;
}

export interface ApiPorts
  extends Omit<RoutePorts, 'baseUrl'>, Omit<MeteringPorts, 'trustProxy'>, OperationsPorts {
  readonly catalogue: Catalogue;
}

/** The HTTP side of the service: its operations directly, everything else by Koa. */
export const api = (ports: ApiPorts, settings: ApiSettings): Handler => {
  const { servesApi, trustProxy, corsOrigins, operationsPort } = settings;
  const hasOrigins = corsOrigins.length > 0;
  const operations = servesApi ? operationsOf(ports, settings) : [];
  const operationRoutes = operations.map((operation) => ({
    method: operation.method,
    path: `/v1${operation.path}`,
    answer: operationRoute(operation, { ...ports, baseUrl: settings.publicUrl }),
  }));
  const counting = { ...ports, trustProxy };
  const count = (exchange: Exchange) => measure(exchange, counting);
  const routes = [
    ...operationRoutes,
    ...(servesApi ? referenceRoutes(operations, settings) : []),
    aliveRoute,
    ...(operationsPort === undefined ? operationsRoutes(ports) : []),
  ];
  const everything = koaApp(ports, routes, [
    ...(servesApi ? [counted(count)] : []),
    ...(hasOrigins ? [crossOrigin(corsOrigins)] : []),
  ]).callback();
  const fixedHeaders = { ...ports.fixedHeaders, ...(hasOrigins && { Vary: 'Origin' }) };
  const framing = new Framing({ ...ports, fixedHeaders });
  const directly = direct(framing, finding(operationRoutes), count, everything);
  // What a page of another origin may read is decided by the middleware.
  const isByPage = ({ headers }: IncomingMessage) => hasOrigins && headers.origin !== undefined;
  return (request, response) => (isByPage(request) ? everything : directly)(request, response);
};

const counted =
  (count: (exchange: Exchange) => Promise<void>): Middleware =>
  async (ctx, next) => {
    const exchange = exchangeOf(ctx);
    if (isCounted(exchange)) await count(exchange);
    await next();
  };

const operationsOf = (ports: ApiPorts, settings: ApiSettings): readonly Operation[] => {
  const baseUrl = settings.publicUrl;
  const routes = { catalogue: ports.catalogue, cursors: new Cursors(settings.secretKeys), baseUrl };
  return [...petOperations(routes), ...orderOperations(routes)];
};

const crossOrigin = (origins: readonly string[]) =>
  cors({
    origin: (ctx) => {
      const origin = ctx.get('Origin');
      return origins.includes(origin) || origins.includes('*') ? origin : '';
    },
    allowMethods: ['GET', 'HEAD', 'POST', 'OPTIONS'],
    allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key'],
    exposeHeaders: [
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
    ],
    maxAge: 600,
    keepHeadersOnError: false,
  });
