import type Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { mailLimits, type WantedLink } from '../../../access/domain/mail-request.ts';
import { mailedLinkMs } from '../../../access/domain/session.ts';
import type { Membership, SignedIn } from '../../../access/people-ports.ts';
import { DomainError } from '../../../kernel/decision.ts';
import { inWords } from '../../../kernel/text.ts';
import { field, formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { sendAlone } from '../frame/layout.ts';
import { isMailedLink, nextIn, pageAfterSignIn, signInPath, withQuery } from '../frame/paths.ts';
import { redirect } from '../frame/responses.ts';
import { isFromElsewhere } from '../frame/same-origin.ts';
import type { Page, Refusal } from '../frame/screen.ts';
import {
  checkForm,
  keptAlone,
  type KeptForm,
  keptInput,
  readForm,
  readKept,
  linkWithKept,
} from '../frame/sent-form.ts';
import { factorPath } from './proof.ts';
import { startSession, originOf, type SignInPorts } from './session.ts';
import {
  email,
  redirectAfterSignIn,
  linkPages,
  refusalFrom,
  showSignIn,
  unfilled,
} from './sign-in-page.ts';

const schema = v.object({ email });

type Ports = Pick<SignInPorts, 'access' | 'deadline' | 'networkOf' | 'cookies' | 'notifications'>;

/**
 * Adds the pages that send a link by mail, if mail is configured. They answer the same whether the address is known or
 * not, and look up nobody before they answer.
 */
export const addLinkRequests = (router: Router, ports: Ports): void => {
  if (!ports.notifications.isMailOn) return;
  for (const wants of Object.keys(linkPages) as WantedLink[]) {
    const { path } = linkPages[wants];
    router.get(path, (ctx: Context) => show(ctx, { wants }));
    router.post(path, (ctx: Context) => receive(ctx, wants, ports));
  }
};

const receive = async (ctx: Context, wants: WantedLink, ports: Ports): Promise<void> => {
  const values = await readForm(ctx, ports);
  const asking = { wants, kept: readKept(values) };
  if (keptAlone(values)) return show(ctx, asking);
  const checked = checkForm(schema, values);
  if (checked.kind === 'refused') {
    return show(ctx, asking, { status: 422, ...unfilled, ...checked, values });
  }
  const { email: typed } = checked.output;
  try {
    await ports.access.askForLink({ email: typed, wants }, originOf(ctx, ports));
    const next = nextIn(ctx.querystring);
    if (next !== undefined) ports.cookies.next.write(ctx, encodeURIComponent(next));
  } catch (error) {
    return show(ctx, asking, { ...refusalFrom(ctx, error, values), field: 'email' });
  }
  await sendAlone(ctx, {
    title: 'Check your mail',
    content: asked(typed, asking, ctx.querystring),
  });
};

interface Asking {
  readonly wants: WantedLink;
  readonly kept?: KeptForm | undefined;
}

const show = (
  ctx: Context,
  { wants, kept }: Asking,
  refusal?: Refusal & { readonly status: number },
): Promise<void> => {
  const { title, hint, path } = linkPages[wants];
  const content = html`<section class="card alone">
    <h1>${title}</h1>
    <p>${hint}</p>
    <form method="post" action="${withQuery(path, ctx.querystring)}">
      ${keptInput(kept)}
      ${formError(refusal)}
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', maxlength: 254, autofocus: true }, refusal)}
      <button class="main">Send the link</button>
    </form>
    ${wayBack(ctx.querystring, kept)}
  </section>`;
  return sendAlone(ctx, { title, content, status: refusal?.status ?? 200 });
};

const asked = (
  typed: string,
  { wants, kept }: Asking,
  query: string,
): Html => html`<section class="card alone">
    <h1>Check your mail</h1>
    <p role="status">If there is an account for <strong>${typed}</strong>, a mail is on its way. The link in it works once, for ${inWords(mailedLinkMs)}.</p>
    <p class="hint">Nothing after a few minutes? Check your spam folder and the address. We send at most ${mailLimits.ofSource.perHour} such mails an hour to one address for one network, and ${mailLimits.inAll.perHour} for all. A browser in which you have signed in has its own limit.</p>
    <div>${linkWithKept(kept, { to: withQuery(linkPages[wants].path, query), label: 'Use another address', look: 'button' })}</div>
    ${kept ? wayOn(query, kept) : wayBack(query)}
  </section>`;

const wayBack = (query: string, kept?: KeptForm): Html =>
  html`<div class="hint">${linkWithKept(kept, { to: withQuery(signInPath, query), label: 'Back to sign-in' })}</div>`;

const wayOn = (query: string, kept: KeptForm): Html => html`
  <p>This page keeps what you entered. Open the link in another tab of this browser, sign in, and then continue here.</p>
  <div>${linkWithKept(kept, { to: withQuery(signInPath, query), label: 'Continue after signing in' })}</div>`;

const path = `${signInPath}/:token`;

/**
 * Adds one-time links. If someone is signed in or another site led to the link, a page asks first, because an attacker
 * could otherwise sign a person in to an account that they did not choose. The page also asks if the link came by mail,
 * because mail scanners follow every link. Asking does not use up the link.
 */
export const addSignInLinks = (router: Router, ports: SignInPorts): void => {
  const { origin } = ports.settings;

  router.get(path, async (ctx: Context) => {
    // Mail programs send HEAD, which must not use up the link.
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
    // The person who used the link opened it again, so show the dashboard.
    if (error instanceof DomainError && (await ports.whoAsks(ctx))) redirectAfterSignIn(ctx);
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
  const started = await startSession(ctx, session, ports);
  const asked = ports.cookies.next.read(ctx);
  if (asked !== undefined) ports.cookies.next.clear(ctx);
  const page = nextIn(ctx.querystring) ?? pageAfterSignIn(`next=${asked ?? ''}`);
  const isWaiting = started.kind === 'waits';
  redirect(ctx, isWaiting ? withQuery(factorPath, `next=${encodeURIComponent(page)}`) : page);
};

const ask: Act = async (ctx, ports) => {
  const wanted = await ports.access.lookBehindLink(tokenOf(ctx), originOf(ctx, ports));
  const page = linkPage(wanted, await ports.whoAsks(ctx), ctx.url);
  await sendAlone(ctx, page);
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
    ${now && html`<p>You are signed in to <strong>${now.account.name}</strong> as <strong>${now.person.email}</strong>. If you continue, that session ends in this browser.</p>`}
    <form method="post" action="${action}"><button class="main">Sign in</button></form>
    <p class="hint">${now ? html`<a href="/dashboard">Stay in ${now.account.name}</a>` : 'If you did not expect this link, close this page. Nothing has happened yet.'}</p>
  </section>`,
});
