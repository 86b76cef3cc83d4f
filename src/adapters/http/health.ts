import type { Answer } from './answer.ts';
import { requestHandler, type RequestHandler, type Route } from './request-handler.ts';
import type { LifecyclePorts } from './request-lifecycle.ts';

/** A dependency of this process. `check` throws while the dependency is unusable. */
interface Dependency {
  readonly name: string;
  readonly check: () => Promise<void>;
}

export const aliveRoute: Route = {
  method: 'GET',
  path: '/healthz',
  answer: () => ({ status: 200, body: { status: 'ok' } }),
};

export interface OperationsPorts extends LifecyclePorts {
  readonly dependencies: readonly Dependency[];
  readonly isStopping: () => boolean;
}

/** Answers /readyz: 200 if this process can work, otherwise 503 with the missing dependency. Only the log says why. */
const readyRoute = ({ dependencies, isStopping, log }: OperationsPorts): Route => ({
  method: 'GET',
  path: '/readyz',
  answer: async () => {
    if (isStopping()) return notReady({ status: 'stopping' });
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
    const told = Object.fromEntries(states);
    return isReady
      ? { status: 200, body: { status: 'ok', ...told } }
      : notReady({ status: 'not ready', ...told });
  },
});

const notReady = (body: Readonly<Record<string, string>>): Answer => ({
  status: 503,
  headers: { 'Retry-After': '1' },
  body,
});

const metricsRoute = ({ metrics }: OperationsPorts): Route => ({
  method: 'GET',
  path: '/metrics',
  answer: async () => ({
    status: 200,
    headers: { 'Content-Type': metrics.registry.contentType },
    body: await metrics.text(),
  }),
});

export const operationsRoutes = (ports: OperationsPorts): readonly Route[] => [
  readyRoute(ports),
  metricsRoute(ports),
];

export const operationsHandler = (ports: OperationsPorts): RequestHandler =>
  requestHandler(ports, [aliveRoute, ...operationsRoutes(ports)]);
