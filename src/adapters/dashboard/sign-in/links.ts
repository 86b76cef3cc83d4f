import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Membership, SignedIn } from '../../../access/people-ports.ts';
import { DomainError } from '../../../kernel/domain-error.ts';
import { enter, originOf, type SignInPorts } from './entering.ts';
import { redirect } from '../frame/answering.ts';
import { html } from '../frame/html.ts';
import { isMailedLink, nextIn, pageAfterSignIn, signInPath } from '../frame/next-page.ts';
import { isFromElsewhere } from '../frame/same-origin.ts';
import { goOn, refusalFrom, sendAlone, showSignIn } from './pages.ts';
import type { Page } from '../frame/screen.ts';

const path = `${signInPath}/:token`;

/**
 * One-time links. A link signs in immediately only if no one is signed in and no other site led to it: otherwise an
 * attacker could sign a person in to an account that they did not choose. In that case a page asks first, which does
 * not use up the link. It also asks if the link came by mail: scanners of mail follow every link in it.
 */
export const addSignInLinks = (router: Router, ports: SignInPorts): void => {
  const { origin } = ports.settings;

  router.get(path, async (ctx: Context) => {
    // HEAD, as mail programs send it, does not use up the link.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    const asks =
      isMailedLink(ctx.query) ||
      isFromElsewhere(ctx, origin) ||
      (await ports.whoAsks(ctx)) !== undefined;
    await answer(ctx, asks ? ask : signIn, ports);
  });

  router.post(path, (ctx: Context) => answer(ctx, signIn, ports));
};

type Act = (ctx: Context, ports: SignInPorts) => Promise<void>;

const answer = async (ctx: Context, act: Act, ports: SignInPorts): Promise<void> => {
  try {
    await act(ctx, ports);
  } catch (error) {
    // The person whom it signed in opened it again: just show the dashboard.
    if (error instanceof DomainError && (await ports.whoAsks(ctx))) goOn(ctx);
    else {
      const refusal = refusalFrom(ctx, error, {});
      await showSignIn(ctx, ports, { query: ctx.querystring, refusal });
    }
  }
};

const tokenOf = (ctx: Context): string =>
  (ctx['params'] as Readonly<Record<string, string>>)['token'] ?? '';

const signIn: Act = async (ctx, ports) => {
  const session = await ports.access.signInByLink(tokenOf(ctx), originOf(ctx, ports));
  await enter(ctx, session, ports);
  const waiting = decodeURIComponent(ports.cookies.next.read(ctx) ?? '');
  if (waiting !== '') ports.cookies.next.clear(ctx);
  redirect(ctx, nextIn(ctx.querystring) ?? pageAfterSignIn(`next=${encodeURIComponent(waiting)}`));
};

const ask: Act = async (ctx, ports) => {
  const wanted = await ports.access.lookBehindLink(tokenOf(ctx), originOf(ctx, ports));
  const page = linkPage(wanted, await ports.whoAsks(ctx), ctx.url);
  await sendAlone(ctx, 200, page);
};

/**
 * Asks for confirmation before a link signs a person in.
 * @param now the signed-in person, if any
 * @param action where the link itself is, with its query
 */
const linkPage = (
  { person, account }: Membership,
  now: SignedIn | undefined,
  action: string,
): Page => ({
  title: `Sign in to ${account.name}`,
  content: html`<section class="card alone">
    <h1>Sign in to ${account.name}?</h1>
    <p>This link signs you in to the account <strong>${account.name}</strong> as <strong>${person.email}</strong>. It works once.</p>
    ${now && html`<p>You are signed in to <strong>${now.account.name}</strong> as <strong>${now.person.email}</strong>. If you go on, that session ends in this browser.</p>`}
    <form method="post" action="${action}"><button class="main">Sign in</button></form>
    <p class="hint">${now ? html`<a href="/dashboard">Stay in ${now.account.name}</a>` : 'If you did not expect this link, close this page. Nothing has happened yet.'}</p>
  </section>`,
});
