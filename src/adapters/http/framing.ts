import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Caller } from '../../access/use-cases/authenticate.ts';
import { answerTo, RequestError } from './error-table.ts';
import type { Metrics } from './metrics.ts';

/** Around every request: its id, its line in the log, its measure, and the one shape of every refusal. */
export const framing =
  (log: Logger, metrics: Metrics): Middleware =>
  async (ctx, next) => {
    const started = performance.now();
    const requestId = randomUUID();
    ctx.set('X-Request-Id', requestId);
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined) answerUnrouted(ctx);
    } catch (error) {
      refuse(ctx, error, log, requestId);
    }
    const ms = performance.now() - started;
    const operation = (ctx.state['operation'] as string | undefined) ?? 'none';
    const caller = ctx.state['caller'] as Caller | undefined;
    metrics.observe(operation, ctx.status, ms / 1000);
    log.info({
      requestId,
      method: ctx.method,
      path: ctx.path,
      status: ctx.status,
      ms: Math.round(ms * 100) / 100,
      keyId: caller?.keyId,
    });
  };

const refuse = (ctx: Context, error: unknown, log: Logger, requestId: string): void => {
  const { code, message, status, headers } = answerTo(error);
  if (status === 500) log.error({ requestId, err: error }, 'request failed');
  if (status === 503) log.warn({ requestId, err: error }, 'request refused');
  ctx.status = status;
  ctx.set(headers);
  ctx.body = { code, message, status };
};

/** Known paths say which verbs they take (405, OPTIONS); there is nothing at unknown ones (404). */
const answerUnrouted = (ctx: Context): void => {
  const layers = (ctx['matched'] ?? []) as readonly { readonly methods: readonly string[] }[];
  const verbs = [...new Set(layers.flatMap((layer) => layer.methods))].sort();
  if (verbs.length === 0) {
    throw new RequestError(
      'route_not_found',
      `There is nothing at ${ctx.path.slice(0, 200)}. The reference at /docs lists all paths.`,
    );
  }
  const allow = [...verbs, 'OPTIONS'].join(', ');
  if (ctx.method !== 'OPTIONS') {
    throw new RequestError(
      'method_not_allowed',
      `${ctx.path} does not take ${ctx.method}; use one of ${allow}.`,
      { Allow: allow },
    );
  }
  ctx.status = 204;
  ctx.set('Allow', allow);
};
