import Koa from 'koa';
import { framing, type FramingPorts } from './framing.ts';
import { routing, type Route } from './operations/routing.ts';

/** A dependency of this process. `check` throws while it is unusable. */
interface Dependency {
  readonly name: string;
  readonly check: () => Promise<void>;
}

/** /healthz: this process is alive. */
export const aliveRoute: Route = {
  method: 'GET',
  path: '/healthz',
  answer: (ctx) => {
    ctx.body = { status: 'ok' };
  },
};

export interface OperationsPorts extends FramingPorts {
  readonly dependencies: readonly Dependency[];
  /** Whether this process is about to stop and wants no new work. */
  readonly isStopping: () => boolean;
}

/** /readyz: whether it can work, or which dependency is missing (503). Only the log says why. */
const readyRoute = ({ dependencies, isStopping, log }: OperationsPorts): Route => ({
  method: 'GET',
  path: '/readyz',
  answer: async (ctx) => {
    if (isStopping()) {
      ctx.status = 503;
      ctx.set('Retry-After', '1');
      ctx.body = { status: 'stopping' };
      return;
    }
    const states = await Promise.all(
      dependencies.map(async ({ name, check }) => {
        const isReady = await check().then(
          () => true,
          (error: unknown) => {
            log.warn({ dependency: name, err: error }, 'not ready');
            return false;
          },
        );
        return [name, isReady ? 'ok' : 'not ready'] as const;
      }),
    );
    const isReady = states.every(([, state]) => state === 'ok');
    ctx.status = isReady ? 200 : 503;
    if (!isReady) ctx.set('Retry-After', '1');
    ctx.body = { status: isReady ? 'ok' : 'not ready', ...Object.fromEntries(states) };
  },
});

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
