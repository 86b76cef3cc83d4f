import type Router from '@koa/router';
import type { Context } from 'koa';
import { kinds } from '../../../notifications/domain/kinds.ts';
import type { NotificationKind } from '../../../notifications/domain/notification.ts';
import { sendHtml } from '../frame/answering.ts';
import { html, type Html } from '../frame/html.ts';
import { layout } from '../frame/layout.ts';
import { PageProblem } from '../frame/page-problem.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import { unsubscribePath as path } from '../frame/same-origin.ts';

type Ports = Pick<DashboardPorts, 'notifications'>;

/**
 * Ends mails of some kinds for the person who got the link, without signing in. Mail programs post to it by themselves
 * (RFC 8058); a GET only asks, since scanners of mail follow every link.
 */
export const addUnsubscribe = (router: Router, { notifications }: Ports): void => {
  router.get(path, async (ctx: Context) => {
    const wanted = notifications.whatToUnsubscribe(tokenOf(ctx));
    if (!wanted) throw unknownLink();
    await send(ctx, asking(wanted.kinds, ctx.url));
  });

  router.post(path, async (ctx: Context) => {
    if (!(await notifications.unsubscribe(tokenOf(ctx)))) throw unknownLink();
    await send(ctx, done);
  });
};

const tokenOf = (ctx: Context): string => new URLSearchParams(ctx.querystring).get('token') ?? '';

const unknownLink = (): PageProblem =>
  new PageProblem(
    404,
    'This link is not complete, or no longer works. Sign in and choose your mails on the account page.',
  );

const send = async (ctx: Context, content: Html): Promise<void> => {
  const page = {
    title: 'Unsubscribe',
    content: html`<section class="card alone">${content}</section>`,
  };
  await sendHtml(ctx, 200, layout(page, { section: undefined, signedIn: undefined, unread: 0 }));
};

const asking = (wanted: readonly NotificationKind[], action: string): Html => html`
  <h1>No more of these mails?</h1>
  <p>You will get no more mails when this happens:</p>
  <ul class="bullets">${wanted.map((kind) => html`<li>${kinds[kind].when}</li>`)}</ul>
  <form method="post" action="${action}"><button class="main">Unsubscribe</button></form>
  <p class="hint">The notices in the dashboard still show it. On the <a href="/dashboard/account#mail">account page</a> you can choose again.</p>`;

const done = html`
  <h1>You are unsubscribed</h1>
  <p>You get no more of these mails. The notices in the dashboard still show what happens.</p>
  <p class="hint">On the <a href="/dashboard/account#mail">account page</a> you can choose again.</p>`;
