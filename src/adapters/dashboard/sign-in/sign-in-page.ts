import type Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import type { WantedLink } from '../../../access/domain/mail-request.ts';
import { DomainError } from '../../../kernel/decision.ts';
import { field, formError } from '../frame/form-parts.ts';
import { html, type Html, nothing } from '../frame/html.ts';
import { sendAlone } from '../frame/layout.ts';
import { problemOf } from '../frame/page-problem.ts';
import {
  accountDeleted,
  accountLeft,
  nextIn,
  pageAfterSignIn,
  signInPath as path,
  withQuery,
} from '../frame/paths.ts';
import { redirect } from '../frame/responses.ts';
import type { Refusal } from '../frame/screen.ts';
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

export const email = v.pipe(
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
  const { access, whoAsks, cookies, refill } = ports;

  router.get(path, async (ctx: Context) => {
    if (await whoAsks(ctx)) redirectAfterSignIn(ctx);
    else await showSignIn(ctx, ports);
  });

  router.post(path, async (ctx: Context) => {
    const values = await readForm(ctx, ports);
    const query = ctx.querystring;
    const alone = keptAlone(values);
    if (alone) {
      // A link in another tab may have signed in this browser.
      if (await whoAsks(ctx)) await refill(ctx, alone);
      else await showSignIn(ctx, ports, { query, kept: alone });
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
    redirect(ctx, path);
  });
};

export const unfilled = {
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

export const redirectAfterSignIn = (ctx: Context): void => {
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
  html`<p role="status">${afterwards[done ?? ''] ?? html`Your session has ended. ${kept ? 'Nothing was done. Sign in, and what you entered is there again.' : 'Sign in to continue.'}`}</p>`;

const signInForm = (
  { query, kept, refusal }: SignInPage,
  isMailOn: boolean,
  why: Html,
): Html => html`
  <section class="card alone">
    <h1>Sign in</h1>
    ${why}
    ${formError(refusal)}
    <form method="post" action="${withQuery(path, query)}">
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
