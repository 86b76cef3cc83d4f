import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { SignedIn } from '../../../access/people-ports.ts';
import { shownPath } from '../../../kernel/shown-path.ts';
import { sendHtml, setSecurityHeaders } from './answering.ts';
import { sendAsset } from './assets.ts';
import type { DashboardPorts } from './ports.ts';
import { layout } from './layout.ts';
import { PageProblem, problemOf, problemPage } from './page-problem.ts';
import { requestedPage, wayBack } from './requested-page.ts';
import { isFromOurPage } from './same-origin.ts';
import type { WhoAsks } from './who-asks.ts';

interface FramingPorts extends Pick<DashboardPorts, 'log' | 'onAnswered' | 'settings'> {
  readonly whoAsks: WhoAsks;
}

/** Wraps every request: its id, its log line, its security headers, and a page for every refusal. */
export const framing =
  ({ log, onAnswered, whoAsks, settings: { origin } }: FramingPorts): Middleware =>
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
      if (problem.status === 500) log.error({ requestId, err: error }, 'page failed');
      // If the person cannot be looked up, for example during a database outage, the page has no navigation.
      const signedIn = await whoAsks(ctx).catch(() => undefined);
      await sendProblem(ctx, problem, requestId, signedIn);
    }
    const { method, status } = ctx;
    const ms = Math.round((performance.now() - started) * 100) / 100;
    onAnswered(status, ms / 1000);
    log.info({ requestId, method, path: shownPath(ctx.path), status, ms });
  };

/** With the navigation of the person who is signed in, and a link back to the form that failed. */
const sendProblem = async (
  ctx: Context,
  problem: PageProblem,
  requestId: string,
  signedIn: SignedIn | undefined,
): Promise<void> => {
  const { status, retryAfter } = problem;
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  const asked = requestedPage(ctx);
  const page = problemPage(problem, requestId, wayBack(asked, status));
  // Not found looks the same for another account's things and for things that do not exist.
  const section = status === 404 ? undefined : asked?.section;
  await sendHtml(ctx, status, layout(page, { section, signedIn }));
};

/** @throws PageProblem 403 */
const refuseForeignForms = (ctx: Context, origin: string): void => {
  if (ctx.method === 'GET' || ctx.method === 'HEAD' || isFromOurPage(ctx, origin)) return;
  throw new PageProblem(403, 'This form was sent from another site, so it was not accepted.');
};
