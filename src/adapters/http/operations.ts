import Koa from 'koa';
import { framing, type FramingPorts } from './framing.ts';
import { aliveRoute, readyRoute, type Dependency } from './health.ts';
import type { Metrics } from './metrics.ts';
import { routing, type Route } from './operations/routing.ts';

export interface OperationsPorts extends FramingPorts {
  readonly metrics: Metrics;
  readonly dependencies: readonly Dependency[];
  /** Whether this process is about to stop and wants no new work. */
  readonly isStopping: () => boolean;
}

/** Endpoints for operators; not public if they have their own port. */
export const operationsRoutes = (ports: OperationsPorts): readonly Route[] => [
  readyRoute(ports),
  ports.metrics.route(),
];

/** Health and metrics on a port of their own, as one Koa application. */
export const operationsApp = (ports: OperationsPorts): Koa => {
  const app = new Koa();
  app.use(framing(ports));
  app.use(routing([aliveRoute, ...operationsRoutes(ports)]));
  app.on('error', (error: unknown) => {
    ports.log.debug({ err: error }, 'connection failed');
  });
  return app;
};
