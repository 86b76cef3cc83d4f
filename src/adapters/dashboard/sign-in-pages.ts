import type Router from '@koa/router';
import type { Context } from 'koa';
import * as v from 'valibot';
import { DomainError } from '../../kernel/domain-error.ts';
import { redirect, sendHtml } from './answering.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { checkForm, readForm } from './form-body.ts';
import { layout } from './layout.ts';
import { pageAfterSignIn, signInPath as path } from './next-page.ts';
import { problemOf } from './page-problem.ts';
import type { Refusal } from './screen.ts';
import type { SessionCookie } from './session-cookie.ts';
import { signInForm } from './sign-in-form.ts';
import type { WhoAsks } from './who-asks.ts';

const credentials = v.object({
  email: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'Enter your email address.'),
    v.maxLength(300, 'An email address has at most 254 characters.'),
  ),
  password: v.pipe(
    v.string(),
    v.minLength(1, 'Enter your password.'),
    v.maxLength(1000, 'A password has at most 200 characters.'),
  ),
});

type Ports = Pick<DashboardPorts, 'access' | 'networkOf' | 'acting'> & {
  readonly cookie: SessionCookie;
  readonly whoAsks: WhoAsks;
};

/** The way in and out; all other pages are behind it. */
export const addSignIn = (router: Router, ports: Ports): void => {
  const { access, cookie, whoAsks } = ports;

  router.get(path, async (ctx: Context) => {
    if (await whoAsks(ctx)) goOn(ctx);
    else await show(ctx, 200);
  });

  router.post(path, async (ctx: Context) => {
    const values = await readForm(ctx);
    const checked = checkForm(credentials, values);
    if (checked.kind === 'refused') return show(ctx, 422, { ...unfilled, ...checked, values });
    try {
      const session = await access.signIn(checked.output, visitorOf(ctx, ports));
      await leave(ctx, ports);
      cookie.write(ctx, session.secret);
      goOn(ctx);
    } catch (error) {
      await showRefusal(ctx, error, values);
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
      goOn(ctx);
    } catch (error) {
      // Opened once more by whoever it let in: they are where they want to be.
      if (error instanceof DomainError && (await whoAsks(ctx))) goOn(ctx);
      else await showRefusal(ctx, error, {});
    }
  });

  router.post('/dashboard/sign-out', async (ctx: Context) => {
    await leave(ctx, ports);
    cookie.clear(ctx);
    redirect(ctx, path);
  });
};

const unfilled = { form: 'sign-in', field: undefined, values: {}, parameters: {} } as const;

/** Shows what a refusal from the inside says; everything else is thrown on. */
const showRefusal = async (
  ctx: Context,
  error: unknown,
  values: Refusal['values'],
): Promise<void> => {
  if (!(error instanceof DomainError)) throw error;
  const { status, message, retryAfter } = problemOf(error);
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  await show(ctx, status, { ...unfilled, message, values });
};

const goOn = (ctx: Context): void => {
  redirect(ctx, pageAfterSignIn(ctx.querystring));
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

const visitorOf = (ctx: Context, { networkOf }: Pick<Ports, 'networkOf'>) => ({
  network: networkOf({
    peer: ctx.req.socket.remoteAddress ?? '',
    forwardedFor: ctx.get('X-Forwarded-For') || undefined,
  }),
  browser: ctx.get('User-Agent'),
});

const show = async (ctx: Context, status: number, refusal?: Refusal): Promise<void> => {
  const page = { title: 'Sign in', content: signInForm(ctx.querystring, refusal) };
  await sendHtml(ctx, status, layout(page, { section: undefined, signedIn: undefined }));
};
