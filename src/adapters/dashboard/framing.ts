import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { sendHtml, setSecurityHeaders } from './answering.ts';
import { sendAsset } from './assets.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { layout } from './layout.ts';
import { PageProblem, problemOf, problemPage } from './page-problem.ts';
import { isFromOurPage } from './same-origin.ts';

type FramingPorts = Pick<DashboardPorts, 'log' | 'onAnswered' | 'settings'>;

/** Around every request: its id, its line in the log, the headers that protect it, and a page for every refusal. */
export const framing =
  ({ log, onAnswered, settings: { origin } }: FramingPorts): Middleware =>
  async (ctx, next) => {
    const started = performance.now();
    const requestId = randomUUID();
    ctx.set('X-Request-Id', requestId);
    setSecurityHeaders(ctx, origin.startsWith('https:'));
    if ((ctx.method === 'GET' || ctx.method === 'HEAD') && sendAsset(ctx)) return;
    try {
      refuseForeignForms(ctx, origin);
      await next();
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status >= 500) log.error({ requestId, err: error }, 'page failed');
      if (problem.status === 503) ctx.set('Retry-After', '1');
      const frame = { section: undefined, signedIn: undefined };
      await sendHtml(ctx, problem.status, layout(problemPage(problem, requestId), frame));
    }
    const { method, status } = ctx;
    const ms = Math.round((performance.now() - started) * 100) / 100;
    onAnswered(status, ms / 1000);
    log.info({ requestId, method, path: shownPath(ctx), status, ms });
  };

/** @throws PageProblem 403 */
const refuseForeignForms = (ctx: Context, origin: string): void => {
  if (ctx.method === 'GET' || ctx.method === 'HEAD' || isFromOurPage(ctx, origin)) return;
  throw new PageProblem(403, 'This form was sent from another site, so nothing was done.');
};

/** A sign-in link is a secret: it does not stand in the log. */
const shownPath = ({ path }: Context): string => path.replace(/(sign-in\/+).+/, '$1…');
