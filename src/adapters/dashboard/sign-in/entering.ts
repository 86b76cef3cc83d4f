import type { Context } from 'koa';
import type { SignedIn } from '../../../access/people-ports.ts';
import type { SignInOrigin, StartedSession } from '../../../access/use-cases/sign-in.ts';
import { DomainError } from '../../../kernel/domain-error.ts';
import type { DashboardPorts } from '../frame/ports.ts';
import type { Cookies } from '../frame/protected-cookie.ts';
import type { Refill } from '../frame/kept-form.ts';
import { PageProblem } from '../frame/page-problem.ts';
import { nowAsks, type WhoAsks } from '../frame/who-asks.ts';

export type SignInPorts = Pick<
  DashboardPorts,
  'access' | 'networkOf' | 'acting' | 'deadline' | 'notifications' | 'settings'
> & {
  readonly cookies: Cookies;
  readonly whoAsks: WhoAsks;
  readonly refill: Refill;
};

/** Gives the browser this session and ends its previous one. @returns whom the rest of this request is answered as */
export const enter = async (
  ctx: Context,
  { secret, device }: Pick<StartedSession, 'secret' | 'device'>,
  ports: Pick<SignInPorts, 'access' | 'acting' | 'cookies'>,
): Promise<SignedIn> => {
  await leave(ctx, ports);
  ports.cookies.session.write(ctx, secret);
  ports.cookies.device.write(ctx, device);
  const signedIn = await ports.access.findSession(secret);
  if (!signedIn) throw new PageProblem(503, 'The session has ended already. Sign in again.');
  nowAsks(ctx, signedIn);
  return signedIn;
};

/** Ends the browser's previous session, which the new one replaces. */
export const leave = async (
  ctx: Context,
  { access, acting, cookies }: Pick<SignInPorts, 'access' | 'acting' | 'cookies'>,
): Promise<void> => {
  const secret = cookies.session.read(ctx);
  const signedIn = secret === undefined ? undefined : await access.findSession(secret);
  if (!signedIn) return;
  await acting
    .run(`person:${signedIn.person.email}`, () =>
      access.revokeSession(signedIn, signedIn.session.id),
    )
    .catch(unlessEnded);
};

/** Another request ended it first. */
const unlessEnded = (error: unknown): void => {
  if (!(error instanceof DomainError)) throw error;
};

export const originOf = (
  ctx: Context,
  { networkOf, cookies }: Pick<SignInPorts, 'networkOf' | 'cookies'>,
): SignInOrigin => ({
  network: networkOf({
    peer: ctx.req.socket.remoteAddress ?? '',
    forwardedFor: ctx.get('X-Forwarded-For') || undefined,
  }),
  browser: ctx.get('User-Agent'),
  device: cookies.device.read(ctx),
});
