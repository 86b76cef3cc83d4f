import type { Catalogue } from '../../catalogue/catalogue.ts';
import { crossOrigin } from './cross-origin.ts';
import { aliveRoute, operationsRoutes, type OperationsPorts } from './health.ts';
import { Cursors, type SecretKeys } from './operations/cursors.ts';
import type { Operation } from './operations/operation.ts';
import { operationRoute, type RoutePorts } from './operations/operation-route.ts';
import { catalogueOperations } from './operations/catalogue-operations.ts';
import { meter, type MeteringPorts } from './rate-limits.ts';
import { referenceRoutes } from './reference/reference-routes.ts';
import { requestHandler, type RequestHandler } from './request-handler.ts';

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

/** The API with its reference, health and metrics: every request that is not for a page. */
export const api = (ports: ApiPorts, settings: ApiSettings): RequestHandler => {
  const { servesApi, corsOrigins, operationsPort } = settings;
  const operations = servesApi ? operationsOf(ports, settings) : [];
  const routePorts = { ...ports, baseUrl: settings.publicUrl };
  const routes = [
    ...operations.map((operation) => operationRoute(operation, routePorts)),
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
