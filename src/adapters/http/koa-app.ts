import Koa, { type Context, type Middleware } from 'koa';
import { contentOf, jsonType, type Answer } from './answers/answer.ts';
import { Framing, type FramingPorts } from './framing.ts';
import type { Response } from './listener/http-server.ts';
import type { Exchange } from './operations/exchange.ts';
import { requestTarget } from './operations/request-target.ts';
import { routing, type Route } from './operations/routing.ts';

/**
 * Answers by these routes as a Koa application.
 * @param between runs when the request has its frame, before its route
 */
export const koaApp = (
  ports: FramingPorts,
  routes: readonly Route[],
  between: readonly Middleware[] = [],
): Koa => {
  const app = new Koa();
  app.use(framed(new Framing(ports)));
  for (const middleware of between) app.use(middleware);
  const route = routing(routes);
  app.use(async (ctx) => {
    answerWith(ctx, await route(exchangeOf(ctx)));
  });
  // Everything is answered; only broken connections get here.
  app.on('error', (error: unknown) => {
    ports.log.debug({ err: error }, 'connection failed');
  });
  return app;
};

export const exchangeOf = (ctx: Context): Exchange => ctx.state['exchange'] as Exchange;

const framed =
  (framing: Framing): Middleware =>
  async (ctx, next) => {
    const exchange = framing.begin(ctx.req, requestTarget(ctx.req.url ?? ''));
    ctx.state['exchange'] = exchange;
    ctx.set('X-Request-Id', exchange.requestId);
    try {
      await next();
    } catch (error) {
      answerWith(ctx, framing.refuse(exchange, error));
    }
    const { headers } = exchange;
    (ctx.res as Response).route = exchange.route;
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] ?? '';
      if (!ctx.res.hasHeader(name)) ctx.set(name, headers[at + 1] ?? '');
    }
    framing.end(exchange, ctx.status);
  };

const answerWith = (ctx: Context, { status, headers = {}, body }: Answer): void => {
  ctx.status = status;
  if (body !== undefined) ctx.set('Content-Type', jsonType);
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'Vary') ctx.vary(value);
    else ctx.set(name, value);
  }
  if (body !== undefined) ctx.body = contentOf(body);
};
