import type { Context } from 'koa';
import type { SignedIn } from '../../../access/people-ports.ts';
import type { DashboardPorts } from './ports.ts';
import type { Cookies } from './protected-cookie.ts';

/** @returns the signed-in person; looked up once per request */
export type WhoAsks = (ctx: Context) => Promise<SignedIn | undefined>;

const found = new WeakMap<Context, SignedIn>();

/** Somebody has signed in with this request. */
export const nowAsks = (ctx: Context, signedIn: SignedIn): void => {
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
