import type { Logger } from 'pino';
import type { Route } from './operations/routing.ts';

/** A dependency of this process. `check` throws while it is unusable. */
export interface Dependency {
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

export interface ReadinessPorts {
  readonly dependencies: readonly Dependency[];
  readonly isStopping: () => boolean;
  readonly log: Logger;
}

/** /readyz: whether it can work, or which dependency is missing (503). Only the log says why. */
export const readyRoute = ({ dependencies, isStopping, log }: ReadinessPorts): Route => ({
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
