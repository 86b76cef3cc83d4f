import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { shownPath } from '../../kernel/text.ts';
import { type Frame, layout, readerOf, sectionPath } from './frame/layout.ts';
import { PageProblem, problemOf, problemPage } from './frame/page-problem.ts';
import { unsubscribePath } from './frame/paths.ts';
import { sendAsset, sendHtml, setSecurityHeaders } from './frame/responses.ts';
import { isFromOurPage } from './frame/same-origin.ts';
import { pathOf, type Screen, type Section, type Visit } from './frame/screen.ts';
import type { DashboardPorts } from './ports.ts';
import type { WhoAsks } from './sign-in/session.ts';

interface RequestLifecyclePorts extends Pick<
  DashboardPorts,
  'log' | 'onAnswered' | 'settings' | 'notifications'
> {
  readonly whoAsks: WhoAsks;
}

/** Wraps every request: sets its id and security headers, logs it, and shows a page for every refusal. */
export const requestLifecycle =
  ({
    log,
    onAnswered,
    whoAsks,
    notifications,
    settings: { origin },
  }: RequestLifecyclePorts): Middleware =>
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
      // If we cannot look up the person, for example during a database outage, the page has no navigation.
      const signedIn = await whoAsks(ctx).catch(() => undefined);
      const reader = signedIn && readerOf(signedIn);
      const unread = reader ? await notifications.countUnread(reader).catch(() => 0) : 0;
      await sendProblem(ctx, { problem, requestId, signedIn, unread });
    }
    const { method, status } = ctx;
    Object.assign(ctx.res, { route: routeOf(ctx) });
    const ms = Math.round((performance.now() - started) * 100) / 100;
    onAnswered(status, ms / 1000);
    log.info({ requestId, method, path: shownPath(ctx.path), status, ms });
  };

const routeOf = (ctx: Context): string | undefined => {
  const route: unknown = ctx['_matchedRoute'];
  return typeof route === 'string' ? route : undefined;
};

interface Problem extends Pick<Frame, 'signedIn' | 'unread'> {
  readonly problem: PageProblem;
  readonly requestId: string;
}

const sendProblem = async (
  ctx: Context,
  { problem, requestId, ...person }: Problem,
): Promise<void> => {
  const { status, retryAfter } = problem;
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  const asked = requestedPage(ctx);
  const page = problemPage(problem, requestId, wayBack(asked, status));
  // Other accounts' things get the same page as things that do not exist.
  const section = status === 404 ? undefined : asked?.section;
  await sendHtml(ctx, status, layout(page, { section, ...person }));
};

const refuseForeignForms = (ctx: Context, origin: string): void => {
  if (ctx.method === 'GET' || ctx.method === 'HEAD' || isFromOurPage(ctx, origin)) return;
  if (ctx.path === unsubscribePath) return;
  throw new PageProblem(403, 'This form was sent from another site, so it was not accepted.');
};

interface RequestedPage {
  readonly section: Section;
  readonly form: string | undefined;
}

const pages = new WeakMap<Context, RequestedPage>();

export const notePage = (ctx: Context, screen: Screen, parameters: Visit['parameters']): void => {
  const form = ctx.method === 'POST' ? pathOf(screen, { parameters }) : undefined;
  pages.set(ctx, { section: screen.section, form });
};

const requestedPage = (ctx: Context): RequestedPage | undefined => pages.get(ctx);

const wayBack = (page: RequestedPage | undefined, status: number): string | undefined =>
  page?.form !== undefined && status === 404 ? sectionPath(page.section) : page?.form;
