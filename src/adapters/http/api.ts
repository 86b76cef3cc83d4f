import cors from '@koa/cors';
import Router from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { Cursors } from './cursor.ts';
import { framing } from './framing.ts';
import { healthRoutes, type Dependency } from './health.ts';
import type { Metrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import { operationRoute, type RoutePorts } from './operation-route.ts';
import { orderOperations } from './order-operations.ts';
import { petOperations } from './pet-operations.ts';
import { referencePage } from './reference-page.ts';

export interface ApiSettings {
  /** Absolute, with the version segment, without a slash at its end. */
  readonly publicUrl: string;
  readonly stagingUrl: string | undefined;
  readonly secretKey: Uint8Array;
  readonly petByIdDeprecatedSince: Date;
  /** Origins whose pages may call the API from a browser; none by default. */
  readonly corsOrigins: readonly string[];
  /** Whether this process serves the API, or only health and metrics. */
  readonly servesApi: boolean;
}

export interface ApiPorts extends Omit<RoutePorts, 'baseUrl'> {
  readonly catalogue: Catalogue;
  readonly metrics: Metrics;
  readonly dependencies: readonly Dependency[];
  readonly log: Logger;
}

/** The HTTP side of the service as one Koa application. */
export const apiApp = (ports: ApiPorts, settings: ApiSettings): Koa => {
  const app = new Koa();
  app.use(framing(ports.log, ports.metrics));
  if (settings.corsOrigins.length > 0) app.use(crossOrigin(settings.corsOrigins));
  const routers = [
    ...(settings.servesApi ? [apiRoutes(ports, settings), referencePage()] : []),
    healthRoutes(ports.dependencies),
    ports.metrics.route(),
  ];
  for (const router of routers) app.use(router.routes());
  // Everything is answered in `framing`; what still gets here is a broken connection.
  app.on('error', (error: unknown) => {
    ports.log.debug({ err: error }, 'connection failed');
  });
  return app;
};

const apiRoutes = (ports: ApiPorts, settings: ApiSettings): Router => {
  const baseUrl = settings.publicUrl;
  const routes = { catalogue: ports.catalogue, cursors: new Cursors(settings.secretKey), baseUrl };
  const operations = [
    ...petOperations(routes, settings.petByIdDeprecatedSince),
    ...orderOperations(routes),
  ];
  const router = new Router({ prefix: '/v1', sensitive: true, strict: true });
  for (const operation of operations) {
    const path = operation.path.replace(/\{(\w+)\}/g, ':$1');
    router[operation.method](path, operationRoute(operation, { ...ports, baseUrl }));
  }
  const document = JSON.stringify(openApiDocument(operations, settings), undefined, 2);
  router.get('/openapi.json', (ctx) => {
    ctx.type = 'application/json';
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = document;
  });
  return router;
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
      'Retry-After',
      'Sunset',
      'X-Request-Id',
    ],
    maxAge: 600,
    keepHeadersOnError: false,
  });
