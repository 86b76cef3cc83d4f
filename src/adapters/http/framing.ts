import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import type { AnsweredRequest } from '../../access/usage-ports.ts';
import type { Caller } from '../../access/use-cases/authenticate.ts';
import type { Clock } from '../../kernel/clock.ts';
import { shownPath } from '../../kernel/shown-path.ts';
import { answerTo } from './answers/error-table.ts';
import type { Metrics } from './metrics.ts';

export interface FramingPorts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Called after the answer of every request with a valid key. */
  readonly onAnswered: (request: AnsweredRequest) => void;
  /** Headers that are set on every answer first, by name. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
}

/** Wraps every request: its id, its log line, its metric, and the uniform shape of refusals. */
export const framing = (ports: FramingPorts): Middleware => {
  const { log, metrics, clock, onAnswered } = ports;
  const fixed = Object.entries(ports.fixedHeaders);
  return async (ctx, next) => {
    const started = performance.now();
    const requestId = randomUUID();
    ctx.set('X-Request-Id', requestId);
    for (const [name, value] of fixed) ctx.res.setHeader(name, value);
    try {
      await next();
    } catch (error) {
      refuse(ctx, error, log, requestId);
    }
    const ms = performance.now() - started;
    const { status } = ctx;
    const operation = (ctx.state['operation'] as string | undefined) ?? 'none';
    const caller = ctx.state['caller'] as Caller | undefined;
    metrics.observe(operation, status, ms / 1000);
    if (caller) {
      const { accountId, keyId } = caller;
      onAnswered({ accountId, keyId, operation, status, at: clock.now() });
    }
    log.info({
      requestId,
      method: ctx.method,
      path: shownPath(ctx.path),
      status,
      ms: Math.round(ms * 100) / 100,
      keyId: caller?.keyId,
    });
  };
};

const refuse = (ctx: Context, error: unknown, log: Logger, requestId: string): void => {
  const { code, message, status, headers } = answerTo(error);
  if (status === 500) log.error({ requestId, err: error }, 'request failed');
  // Outages are logged once each, where they are detected.
  if (status === 503) log.debug({ requestId, err: error }, 'request refused');
  ctx.status = status;
  ctx.set(headers);
  ctx.body = { code, message, status };
};
