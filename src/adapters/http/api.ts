import cors from '@koa/cors';
import Koa from 'koa';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { Cursors, type SecretKeys } from './operations/cursor.ts';
import { framing } from './framing.ts';
import { aliveRoute, operationsRoutes, type OperationsPorts } from './health.ts';
import { admit, metering, type MeteringPorts } from './operations/metering.ts';
import { openApiDocument } from './reference/openapi.ts';
import { operationRoute, type RoutePorts } from './operations/operation-route.ts';
import { orderOperations } from './operations/order-operations.ts';
import { petOperations } from './operations/pet-operations.ts';
import { referencePage } from './reference/page.ts';
import { routing, type Route } from './operations/routing.ts';

export interface ApiSettings {
  /** Absolute, with the version segment, without a slash at its end. */
  readonly publicUrl: string;
  readonly stagingUrl: string | undefined;
  /** The first one signs cursors; cursors signed with the others stay valid. */
  readonly secretKeys: SecretKeys;
  readonly petByIdDeprecatedSince: Date;
  /** Origins whose pages may call the API from a browser; none by default. */
  readonly corsOrigins: readonly string[];
  /** How many proxies' X-Forwarded-For to believe. */
  readonly trustProxy: number;
  /** Whether this process serves the API, or only health and metrics. */
  readonly servesApi: boolean;
  /** If set, readiness and metrics are served there instead of here. */
  readonly operationsPort: number | undefined;
}

export interface ApiPorts
  extends Omit<RoutePorts, 'baseUrl'>, Omit<MeteringPorts, 'trustProxy'>, OperationsPorts {
  readonly catalogue: Catalogue;
}

/** The HTTP side of the service as one Koa application. */
export const apiApp = (ports: ApiPorts, settings: ApiSettings): Koa => {
  const app = new Koa();
  app.use(framing(ports));
  if (settings.servesApi) app.use(metering({ ...ports, trustProxy: settings.trustProxy }));
  if (settings.corsOrigins.length > 0) app.use(crossOrigin(settings.corsOrigins));
  const routes = [
    ...(settings.servesApi ? apiRoutes(ports, settings) : []),
    aliveRoute,
    ...(settings.operationsPort === undefined ? operationsRoutes(ports) : []),
  ];
  app.use(routing(routes));
  // `framing` answers everything; only broken connections get here.
  app.on('error', (error: unknown) => {
    ports.log.debug({ err: error }, 'connection failed');
  });
  return app;
};

const apiRoutes = (ports: ApiPorts, settings: ApiSettings): readonly Route[] => {
  const baseUrl = settings.publicUrl;
  const routes = { catalogue: ports.catalogue, cursors: new Cursors(settings.secretKeys), baseUrl };
  const operations = [
    ...petOperations(routes, settings.petByIdDeprecatedSince),
    ...orderOperations(routes),
  ];
  const document = openApiDocument(operations, settings);
  const text = JSON.stringify(document);
  return [
    ...operations.map((operation) => ({
      method: operation.method,
      path: `/v1${operation.path}`,
      answer: operationRoute(operation, { ...ports, baseUrl }),
    })),
    {
      method: 'GET',
      path: '/v1/openapi.json',
      answer: (ctx) => {
        admit(ctx);
        ctx.type = 'application/json';
        ctx.body = text;
      },
    },
    ...referencePage(document),
  ];
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
