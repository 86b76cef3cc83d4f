import type Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { DomainError } from '../../kernel/domain-error.ts';
import { redirect, sendHtml } from './answering.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { checkForm, readForm } from './form-body.ts';
import { html, type Html } from './html.ts';
import { layout } from './layout.ts';
import { field, formError } from './parts.ts';
import type { Refusal } from './screen.ts';
import type { SessionCookie } from './session-cookie.ts';

const path = '/dashboard/sign-in';

const credentials = v.object({
  email: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'Type your e-mail address.'),
    v.maxLength(300, 'An address has at most 254 characters.'),
  ),
  password: v.pipe(
    v.string(),
    v.minLength(1, 'Type your password.'),
    v.maxLength(1000, 'A password has at most 200 characters.'),
  ),
});

type Ports = Pick<DashboardPorts, 'access' | 'networkOf' | 'acting'> & {
  readonly cookie: SessionCookie;
};

/** The way in and out; all other pages are behind it. */
export const addSignIn = (router: Router, ports: Ports): void => {
  const { access, cookie } = ports;

  router.get(path, (ctx: Context) => show(ctx, 200));

  router.post(path, async (ctx: Context) => {
    const values = await readForm(ctx);
    const refused = (status: number, field: string | undefined, message: string) =>
      show(ctx, status, { form: 'sign-in', field, message, values, parameters: {} });
    const checked = checkForm(credentials, values);
    if (checked.kind === 'refused') return refused(422, checked.field, checked.message);
    try {
      const session = await access.signIn(checked.output, visitorOf(ctx, ports));
      await leave(ctx, ports);
      cookie.write(ctx, session.secret);
      redirect(ctx, nextOf(ctx));
    } catch (error) {
      const { status, message } = refusalFrom(error);
      await refused(status, undefined, message);
    }
  });

  router.get(`${path}/:token`, async (ctx: Context) => {
    // A look at what is behind a link, by a mail program, does not use it up.
    if (ctx.method === 'HEAD') return void (ctx.status = 200);
    const { token = '' } = ctx['params'] as Record<string, string>;
    try {
      const session = await access.signInByLink(token, visitorOf(ctx, ports));
      await leave(ctx, ports);
      cookie.write(ctx, session.secret);
      redirect(ctx, '/dashboard');
    } catch (error) {
      const { status, message } = refusalFrom(error);
      const refusal = { form: 'sign-in', field: undefined, values: {}, parameters: {} };
      await show(ctx, status, { ...refusal, message });
    }
  });

  router.post('/dashboard/sign-out', async (ctx: Context) => {
    await leave(ctx, ports);
    cookie.clear(ctx);
    redirect(ctx, path);
  });
};

/** What a refusal from the inside says; everything else is thrown on. */
const refusalFrom = (error: unknown): { readonly status: number; readonly message: string } => {
  if (!(error instanceof DomainError)) throw error;
  const { code, message } = error as DomainError;
  return { status: code === 'too_many_sign_ins' ? 429 : 422, message };
};

/** Ends the session that the browser had until now: with a new one nobody needs it any more. */
const leave = async (ctx: Context, { access, acting, cookie }: Ports): Promise<void> => {
  const secret = cookie.read(ctx);
  const signedIn = secret === undefined ? undefined : await access.findSession(secret);
  if (!signedIn) return;
  await acting
    .run(`person:${signedIn.person.email}`, () =>
      access.revokeSession(signedIn, signedIn.session.id),
    )
    .catch(unlessEnded);
};

/** Somebody was quicker. */
const unlessEnded = (error: unknown): void => {
  if (!(error instanceof DomainError)) throw error;
};

/** @returns where the way to the sign-in began: a path of ours, or the first page */
const nextOf = (ctx: Context): string => {
  const next = new URLSearchParams(ctx.querystring).get('next') ?? '';
  return /^\/dashboard(\/[\w./-]*)?$/.test(next) ? next : '/dashboard';
};

const visitorOf = (ctx: Context, { networkOf }: Pick<Ports, 'networkOf'>) => ({
  network: networkOf({
    peer: ctx.req.socket.remoteAddress ?? '',
    forwardedFor: ctx.get('X-Forwarded-For') || undefined,
  }),
  browser: ctx.get('User-Agent'),
});

const show = async (ctx: Context, status: number, refusal?: Refusal): Promise<void> => {
  const page = { title: 'Sign in', content: content(ctx.querystring, refusal) };
  await sendHtml(ctx, status, layout(page, { section: undefined, signedIn: undefined }));
};

const content = (query: string, refusal: Refusal | undefined): Html => html`
  <section class="card narrow">
    <h1>Sign in</h1>
    ${formError(refusal)}
    <form method="post" action="${path}${query && `?${query}`}">
      ${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', autofocus: true }, refusal)}
      ${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password' }, refusal)}
      <button class="main wide">Sign in</button>
    </form>
    <p class="hint">No password yet, or forgotten? Open a one-time sign-in link: somebody of your account makes one under Account, or the operator with <code>animal-store user invite</code>.</p>
  </section>`;
