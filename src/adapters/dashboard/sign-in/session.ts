import type { Context } from 'koa';
import { knownDeviceMs, mailedLinkMs, sessionMs } from '../../../access/domain/session.ts';
import type { SignedIn } from '../../../access/people-ports.ts';
import type { SignInOrigin, StartedSession } from '../../../access/use-cases/sign-in.ts';
import { DomainError } from '../../../kernel/decision.ts';
import { PageProblem } from '../frame/page-problem.ts';
import type { KeptForm, Refill } from '../frame/sent-form.ts';
import type { DashboardPorts } from '../ports.ts';

/**
 * A secret in the browser. Scripts cannot read it, and other sites' forms do not send it. Over HTTPS the name itself
 * binds it to this host (RFC 6265bis, section 4.1.3.2).
 */
class ProtectedCookie {
  readonly #name: string;
  readonly #lastsMs: number;
  readonly #attributes: string;

  constructor(name: string, lastsMs: number, isSecure: boolean) {
    this.#name = isSecure ? `__Host-${name}` : name;
    this.#lastsMs = lastsMs;
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  read(ctx: Context): string | undefined {
    return ctx.cookies.get(this.#name);
  }

  write(ctx: Context, secret: string): void {
    this.#set(ctx, secret, Math.floor(this.#lastsMs / 1000));
  }

  clear(ctx: Context): void {
    this.#set(ctx, '', 0);
  }

  /** Bypasses Koa, which refuses Secure cookies on a proxy's plain connection. */
  #set(ctx: Context, secret: string, seconds: number): void {
    ctx.append('Set-Cookie', `${this.#name}=${secret}; Max-Age=${seconds}; ${this.#attributes}`);
  }
}

export interface Cookies {
  readonly session: ProtectedCookie;
  readonly device: ProtectedCookie;
  /** The percent-encoded page to return to, in a browser that waits for a link by mail. */
  readonly next: ProtectedCookie;
}

/** @param isSecure whether browsers reach the dashboard over HTTPS */
export const cookiesOf = (isSecure: boolean): Cookies => ({
  session: new ProtectedCookie('session', sessionMs, isSecure),
  device: new ProtectedCookie('device', knownDeviceMs, isSecure),
  next: new ProtectedCookie('next', mailedLinkMs, isSecure),
});

/** @returns the signed-in person, looked up once per request */
export type WhoAsks = (ctx: Context) => Promise<SignedIn | undefined>;

const found = new WeakMap<Context, SignedIn>();

const rememberSignedIn = (ctx: Context, signedIn: SignedIn): void => {
  found.set(ctx, signedIn);
};

export const whoAsks = ({ access }: Pick<DashboardPorts, 'access'>, cookies: Cookies): WhoAsks => {
  return async (ctx) => {
    const known = found.get(ctx);
    if (known) return known;
    const secret = cookies.session.read(ctx);
    const signedIn = secret === undefined ? undefined : await access.findSession(secret);
    if (signedIn) found.set(ctx, signedIn);
    return signedIn;
  };
};

export type ShowFactor = (
  ctx: Context,
  waiting: SignedIn,
  kept: KeptForm | undefined,
) => Promise<void>;

export type SignInPorts = Pick<
  DashboardPorts,
  'access' | 'networkOf' | 'acting' | 'deadline' | 'notifications' | 'settings'
> & {
  readonly cookies: Cookies;
  readonly whoAsks: WhoAsks;
  readonly refill: Refill;
  readonly showFactor: ShowFactor;
};

export type Started =
  | { readonly kind: 'signed_in'; readonly signedIn: SignedIn }
  | { readonly kind: 'waits'; readonly waiting: SignedIn };

export const startSession = async (
  ctx: Context,
  { secret, device }: Pick<StartedSession, 'secret' | 'device'>,
  ports: Pick<SignInPorts, 'access' | 'acting' | 'cookies'>,
): Promise<Started> => {
  await endSession(ctx, ports);
  ports.cookies.session.write(ctx, secret);
  ports.cookies.device.write(ctx, device);
  const waiting = await ports.access.findWaiting(secret);
  if (waiting) return { kind: 'waits', waiting };
  return { kind: 'signed_in', signedIn: await rememberSession(ctx, secret, ports) };
};

const rememberSession = async (
  ctx: Context,
  secret: string,
  { access }: Pick<SignInPorts, 'access'>,
): Promise<SignedIn> => {
  const signedIn = await access.findSession(secret);
  if (!signedIn) throw new PageProblem(503, 'The session has ended already. Sign in again.');
  rememberSignedIn(ctx, signedIn);
  return signedIn;
};

/** Reloads the session after the person has confirmed who they are. @returns the person for the rest of this request */
export const refreshSignedIn = (
  ctx: Context,
  ports: Pick<SignInPorts, 'access' | 'cookies'>,
): Promise<SignedIn> => rememberSession(ctx, ports.cookies.session.read(ctx) ?? '', ports);

export const endSession = async (
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

const unlessEnded = (error: unknown): void => {
  if (!(error instanceof DomainError)) throw error;
};

export const networkOf = (ctx: Context, ports: Pick<DashboardPorts, 'networkOf'>): string =>
  ports.networkOf({
    peer: ctx.req.socket.remoteAddress ?? '',
    forwardedFor: ctx.get('X-Forwarded-For') || undefined,
  });

export const originOf = (
  ctx: Context,
  ports: Pick<SignInPorts, 'networkOf' | 'cookies'>,
): SignInOrigin => ({
  network: networkOf(ctx, ports),
  browser: ctx.get('User-Agent'),
  device: ports.cookies.device.read(ctx),
});
