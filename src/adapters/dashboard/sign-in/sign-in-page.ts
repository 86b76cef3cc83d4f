import type Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { mailLimits, type WantedLink } from '../../../access/domain/mail-request.ts';
import { mailedLinkMs } from '../../../access/domain/session.ts';
import type { Membership, SignedIn } from '../../../access/people-ports.ts';
import { DomainError } from '../../../kernel/decision.ts';
import { inWords } from '../../../kernel/text.ts';
import { field, formError } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { sendAlone } from '../frame/layout.ts';
import { problemOf } from '../frame/page-problem.ts';
import {
  accountDeleted,
  accountLeft,
  factorPath,
  isMailedLink,
  nextIn,
  pageAfterSignIn,
  signInPath,
  withQuery,
} from '../frame/paths.ts';
import { redirect } from '../frame/responses.ts';
import { isFromElsewhere } from '../frame/same-origin.ts';
import type { Page, Refusal } from '../frame/screen.ts';
import {
  checkForm,
  filled,
  keptAlone,
  type KeptForm,
  keptInput,
  readForm,
  readKept,
  linkWithKept,
  withVerifiedCode,
} from '../frame/sent-form.ts';
import { sendAccountChooser } from './accounts-screen.ts';
import { startSession, endSession, originOf, type SignInPorts } from './session.ts';

const email = v.pipe(
  filled('Enter your email address.'),
  v.maxLength(300, 'An email address has at most 254 characters.'),
);

const credentials = v.object({
  email,
  password: v.pipe(
    v.string(),
    v.minLength(1, 'Enter your password.'),
    v.maxLength(1000, 'A password has at most 200 characters.'),
  ),
});

export const addSignIn = (router: Router, ports: SignInPorts): void => {
  const { access, cookies, refill } = ports;

  router.get(signInPath, async (ctx: Context) => {
    if (!(await hasContinued(ctx, ports))) await showSignIn(ctx, ports);
  });

  router.post(signInPath, async (ctx: Context) => {
    const values = await readForm(ctx, ports);
    const query = ctx.querystring;
    const alone = keptAlone(values);
    if (alone) {
      if (!(await hasContinued(ctx, ports, alone)))
        await showSignIn(ctx, ports, { query, kept: alone });
      return;
    }
    const checked = checkForm(credentials, values);
    const kept = readKept(values);
    if (checked.kind === 'refused') {
      const refusal = { status: 422, ...unfilled, ...checked, values };
      return showSignIn(ctx, ports, { query, kept, refusal });
    }
    try {
      const session = await access.signIn(checked.output, originOf(ctx, ports));
      const started = await startSession(ctx, session, ports);
      if (started.kind === 'waits') {
        await ports.showFactor(ctx, started.waiting, kept);
      } else if (session.others.length > 0) {
        await sendAccountChooser(ctx, started.signedIn, kept, ports);
      } else if (kept) await refill(ctx, kept);
      else redirectAfterSignIn(ctx);
    } catch (error) {
      await showSignIn(ctx, ports, { query, kept, refusal: refusalFrom(ctx, error, values) });
    }
  });

  router.post('/dashboard/sign-out', async (ctx: Context) => {
    await endSession(ctx, ports);
    cookies.session.clear(ctx);
    redirect(ctx, signInPath);
  });
};

/**
 * Continues if the person is signed in, perhaps by a link in another tab, or still has to prove the second factor. A
 * person whose link is used up could not sign in again.
 */
export const hasContinued = async (
  ctx: Context,
  { whoAsks, access, cookies, refill, showFactor }: SignInPorts,
  kept?: KeptForm,
): Promise<boolean> => {
  if (await whoAsks(ctx)) {
    if (kept) await refill(ctx, kept);
    else redirectAfterSignIn(ctx);
    return true;
  }
  const waiting = await access.findWaiting(cookies.session.read(ctx) ?? '');
  if (waiting) await showFactor(ctx, waiting, kept);
  return waiting !== undefined;
};

const unfilled = {
  form: 'sign-in',
  field: undefined,
  values: {},
  parameters: {},
} as const;

type Shown = Pick<SignInPorts, 'notifications' | 'cookies'>;
type RefusalWithStatus = Refusal & { readonly status: number };

/** Turns a domain error into a refusal for the page. @throws everything else */
export const refusalFrom = (
  ctx: Context,
  error: unknown,
  values: Refusal['values'],
): RefusalWithStatus => {
  if (!(error instanceof DomainError)) throw error;
  const { status, message, retryAfter } = problemOf(error);
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  return { ...unfilled, status, message, values };
};

const redirectAfterSignIn = (ctx: Context): void => {
  redirect(ctx, pageAfterSignIn(ctx.querystring));
};

interface SignInPage {
  readonly query: string;
  readonly kept?: KeptForm | undefined;
  readonly refusal?: RefusalWithStatus | undefined;
}

export const showSignIn = (
  ctx: Context,
  { notifications, cookies }: Shown,
  page: SignInPage = { query: ctx.querystring },
): Promise<void> => {
  const { session, device } = cookies;
  // A browser forgets the session when it ends, but not that somebody has signed in with it before.
  const isBack = device.read(ctx) !== undefined && nextIn(page.query) !== undefined;
  const hasEnded = page.kept !== undefined || session.read(ctx) !== undefined || isBack;
  const said = withVerifiedCode(new URLSearchParams(page.query), session.read(ctx) ?? '');
  const why = hasEnded ? whyHere(page.kept, said.get('done')) : nothing;
  return sendAlone(ctx, {
    title: 'Sign in',
    status: page.refusal?.status ?? 200,
    content: signInForm(page, notifications.isMailOn, page.refusal ? nothing : why),
  });
};

const afterwards: Readonly<Partial<Record<string, string>>> = {
  [accountDeleted]:
    'The account is deleted, and everybody is signed out. For 7 days an owner can sign in and restore it.',
  [accountLeft]: 'You have left the account.',
};

const whyHere = (kept: KeptForm | undefined, done: string | null): Html =>
  html`<p role="status">${afterwards[done ?? ''] ?? (kept ? 'Your session has ended, so this form was not accepted. Sign in, and what you entered is there again.' : 'Your session has ended. Sign in to continue.')}</p>`;

const signInForm = (
  { query, kept, refusal }: SignInPage,
  isMailOn: boolean,
  why: Html,
): Html => html`
  <section class="card alone">
    <h1>Sign in</h1>
    ${why}
    ${formError(refusal)}
    <form method="post" action="${withQuery(signInPath, query)}">
      ${keptInput(kept)}
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', autofocus: true }, refusal)}
      ${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password' }, refusal)}
      <button class="main">Sign in</button>
    </form>
    ${isMailOn ? waysByMail(query, kept) : waysWithoutMail}
  </section>`;

const waysByMail = (query: string, kept: KeptForm | undefined): Html => html`
  <div class="row between">
    ${linkWithKept(kept, { to: linkPages.new_password.path, label: 'Forgot password?' })}
    ${linkWithKept(kept, { to: withQuery(linkPages.sign_in.path, query), label: 'Sign in by a link' })}
  </div>`;

const waysWithoutMail = html`<p class="hint">No password yet, or forgotten it? Use a one-time sign-in link. The operator of this service creates one; if you were invited, ask the person who invited you for the link.</p>`;

interface LinkPage {
  readonly path: string;
  readonly title: string;
  readonly hint: string;
}

export const linkPages: Readonly<Record<WantedLink, LinkPage>> = {
  new_password: {
    path: '/dashboard/forgot-password',
    title: 'Forgot your password?',
    hint: 'We send you a link that signs you in once. Then you choose a new password.',
  },
  sign_in: {
    path: '/dashboard/sign-in-link',
    title: 'Sign in by a link',
    hint: 'We send you a link that signs you in once, without a password.',
  },
};

const linkForm = v.object({ email });

type LinkPorts = Omit<SignInPorts, 'whoAsks' | 'refill' | 'showFactor'>;

/**
 * Adds the pages that send a link by mail, if mail is configured. They answer the same whether the address is known or
 * not, and look up nobody before they answer.
 */
export const addLinkRequests = (router: Router, ports: LinkPorts): void => {
  if (!ports.notifications.isMailOn) return;
  for (const wants of Object.keys(linkPages) as WantedLink[]) {
    const { path } = linkPages[wants];
    router.get(path, (ctx: Context) => showLinkForm(ctx, { wants }));
    router.post(path, (ctx: Context) => receiveLinkForm(ctx, wants, ports));
  }
};

const receiveLinkForm = async (
  ctx: Context,
  wants: WantedLink,
  ports: LinkPorts,
): Promise<void> => {
  const values = await readForm(ctx, ports);
  const asking = { wants, kept: readKept(values) };
  if (keptAlone(values)) return showLinkForm(ctx, asking);
  const checked = checkForm(linkForm, values);
  if (checked.kind === 'refused') {
    return showLinkForm(ctx, asking, { status: 422, ...unfilled, ...checked, values });
  }
  const { email: typed } = checked.output;
  try {
    await ports.access.askForLink({ email: typed, wants }, originOf(ctx, ports));
    const next = nextIn(ctx.querystring);
    if (next !== undefined) ports.cookies.next.write(ctx, encodeURIComponent(next));
  } catch (error) {
    return showLinkForm(ctx, asking, { ...refusalFrom(ctx, error, values), field: 'email' });
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

const showLinkForm = (
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

const linkPath = `${signInPath}/:token`;

/**
 * Adds one-time links. If someone is signed in or another site led to the link, a page asks first, because an attacker
 * could otherwise sign a person in to an account that they did not choose. The page also asks if the link came by mail,
 * because mail scanners follow every link. Asking does not use up the link.
 */
export const addSignInLinks = (router: Router, ports: SignInPorts): void => {
  const { origin } = ports.settings;

  router.get(linkPath, async (ctx: Context) => {
    // Mail programs send HEAD, which must not use up the link.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    const asks =
      isMailedLink(ctx.query) ||
      isFromElsewhere(ctx, origin) ||
      (await ports.whoAsks(ctx)) !== undefined;
    await answer(ctx, asks ? ask : signIn, ports);
  });

  router.post(linkPath, (ctx: Context) => answer(ctx, signIn, ports));
};

type Act = (ctx: Context, ports: SignInPorts) => Promise<void>;

const answer = async (ctx: Context, act: Act, ports: SignInPorts): Promise<void> => {
  try {
    await act(ctx, ports);
  } catch (error) {
    // The person who used the link may have opened it again.
    if (error instanceof DomainError && (await hasContinued(ctx, ports))) return;
    const refusal = refusalFrom(ctx, error, {});
    await showSignIn(ctx, ports, { query: ctx.querystring, refusal });
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
