import type Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { DomainError } from '../../../kernel/domain-error.ts';
import { redirect, sendHtml } from '../frame/answering.ts';
import { accountsPathFor } from './accounts-screen.ts';
import { enter, leave, originOf, type SignInPorts } from './entering.ts';
import { checkForm, filled, readForm } from '../frame/form-body.ts';
import { layout } from '../frame/layout.ts';
import { pageAfterSignIn, signInPath as path } from '../frame/next-page.ts';
import { problemOf } from '../frame/page-problem.ts';
import { field, formError } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import type { Page, Refusal } from '../frame/screen.ts';
import { linkPages } from './link-pages.ts';

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

/** Sign-in by password and sign-out; all other pages require a session. */
export const addSignIn = (router: Router, ports: SignInPorts): void => {
  const { access, deadline, whoAsks, cookies } = ports;

  router.get(path, async (ctx: Context) => {
    if (await whoAsks(ctx)) goOn(ctx);
    else await show(ctx, ports);
  });

  router.post(path, async (ctx: Context) => {
    const values = await deadline.apart(() => readForm(ctx));
    const checked = checkForm(credentials, values);
    if (checked.kind === 'refused') {
      return show(ctx, ports, { status: 422, ...unfilled, ...checked, values });
    }
    try {
      const session = await access.signIn(checked.output, originOf(ctx, ports));
      await enter(ctx, session, ports);
      if (session.others.length > 0) redirect(ctx, accountsPathFor(ctx.querystring));
      else goOn(ctx);
    } catch (error) {
      await showRefusal(ctx, error, ports, values);
    }
  });

  router.post('/dashboard/sign-out', async (ctx: Context) => {
    await leave(ctx, ports);
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

type Shown = Pick<SignInPorts, 'notifications'>;
type RefusalWithStatus = Refusal & { readonly status: number };

/** A refusal of the domain, as the page shows it. @throws everything else */
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

/** Shows a refusal of the domain; rethrows everything else. */
export const showRefusal = (
  ctx: Context,
  error: unknown,
  ports: Shown,
  values: Refusal['values'] = {},
): Promise<void> => show(ctx, ports, refusalFrom(ctx, error, values));

export const goOn = (ctx: Context): void => {
  redirect(ctx, pageAfterSignIn(ctx.querystring));
};

const show = (ctx: Context, { notifications }: Shown, refusal?: RefusalWithStatus): Promise<void> =>
  sendAlone(ctx, refusal?.status ?? 200, {
    title: 'Sign in',
    content: signInForm(ctx.querystring, notifications.isMailOn, refusal),
  });

/** A page of somebody who is not signed in. */
export const sendAlone = (ctx: Context, status: number, page: Page): Promise<void> =>
  sendHtml(ctx, status, layout(page, { section: undefined, signedIn: undefined, unread: 0 }));

/** @param query goes along with the form: it says where to go afterwards */
const signInForm = (query: string, isMailOn: boolean, refusal: Refusal | undefined): Html => html`
  <section class="card alone">
    <h1>Sign in</h1>
    ${formError(refusal)}
    <form method="post" action="${path}${query && `?${query}`}">
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', autofocus: true }, refusal)}
      ${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password' }, refusal)}
      <button class="main">Sign in</button>
    </form>
    ${isMailOn ? waysByMail : waysWithoutMail}
  </section>`;

const waysByMail = html`<p class="row between"><a href="${linkPages.new_password.path}">Forgot password?</a> <a href="${linkPages.sign_in.path}">Sign in by a link</a></p>`;

const waysWithoutMail = html`<p class="hint">No password yet, or forgotten it? Use a one-time sign-in link. The operator creates one with <code>animal-store user invite</code>; if you were invited, ask the person who invited you for the link.</p>`;
