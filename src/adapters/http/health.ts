import type { Route } from './routing.ts';

/** Something this process needs. `check` throws while it cannot be used. */
export interface Dependency {
  readonly name: string;
  readonly check: () => Promise<void>;
}

/** /healthz: this process is alive. /readyz: it can do its work, or which part is missing (503). */
export const healthRoutes = (dependencies: readonly Dependency[]): readonly Route[] => [
  {
    method: 'GET',
    path: '/healthz',
    answer: (ctx) => {
      ctx.body = { status: 'ok' };
    },
  },
  {
    method: 'GET',
    path: '/readyz',
    answer: async (ctx) => {
      const states = await Promise.all(
        dependencies.map(async ({ name, check }) => [name, await stateOf(check)] as const),
      );
      const ready = states.every(([, state]) => state === 'ok');
      ctx.status = ready ? 200 : 503;
      if (!ready) ctx.set('Retry-After', '1');
      ctx.body = { status: ready ? 'ok' : 'not ready', ...Object.fromEntries(states) };
    },
  },
];

const stateOf = (check: () => Promise<void>): Promise<string> =>
  check().then(
    () => 'ok',
    (error: unknown) => (error instanceof Error ? error.message : 'failed'),
  );
