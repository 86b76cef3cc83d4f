import type { Context, Middleware } from 'koa';
import type { Access } from '../../../access/access.ts';
import { planLimits, type Limits } from '../../../access/domain/plan.ts';
import { judge, type Verdict } from '../../../access/domain/rate-quota.ts';
import type { Caller } from '../../../access/use-cases/authenticate.ts';
import type { Banned } from '../../../access/use-cases/meter-request.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { DomainError } from '../../../kernel/domain-error.ts';
import { addressBucket, clientAddress } from '../listener/client-address.ts';
import { RequestError } from '../answers/error-table.ts';
import { overLimit, rateLimitHeaders } from '../answers/rate-limit-headers.ts';

/** The caller, or why it is unknown; the operation decides whether that matters. */
type Identity = { readonly caller: Caller } | { readonly refusal: Error };

export interface MeteringPorts {
  readonly access: Access;
  readonly clock: Clock;
  /** How many proxies' X-Forwarded-For to believe. */
  readonly trustProxy: number;
}

/**
 * Runs before everything under /v1: identifies the caller, counts the request against the account or the address, and
 * adds the limits to every answer. Callers over a limit are refused later by `admit`, once the operation is known.
 */
export const metering =
  (ports: MeteringPorts): Middleware =>
  async (ctx, next) => {
    if (/^\/v1(\/|$)/.test(ctx.path)) await measure(ctx, ports);
    await next();
  };

const measure = async (ctx: Context, ports: MeteringPorts): Promise<void> => {
  const { access, clock, trustProxy } = ports;
  const identity = await identify(ctx, access);
  if ('caller' in identity) ctx.state['caller'] = identity.caller;
  else ctx.state['refusal'] = identity.refusal;
  const now = clock.now();
  try {
    const verdict = await meter(ctx, access, identity, trustProxy);
    ctx.set(rateLimitHeaders(verdict, now));
    ctx.state['overLimit'] = overLimit(verdict, now);
  } catch (error) {
    // The remaining quota is unknown, so the answer promises nothing and reports the failure.
    const limits = 'caller' in identity ? identity.caller.limits : planLimits.free;
    ctx.set(rateLimitHeaders(withNothingLeft(limits, now), now));
    ctx.state['overLimit'] = error;
  }
};

/** The limits to report when the counts cannot be read. */
export const withNothingLeft = (limits: Limits, now: Date): Verdict =>
  judge(limits, { minute: limits.perMinute, day: 0 }, false, now);

/** Admits only requests within the limits. @throws RequestError 429; Unavailable */
export const admit = (ctx: Context): void => {
  const overLimit: unknown = ctx.state['overLimit'];
  if (overLimit !== undefined) throw overLimit as Error;
};

const bearer = /^Bearer +([^\s]+) *$/i;

const identify = async (ctx: Context, access: Access): Promise<Identity> => {
  const secret = bearer.exec(ctx.headers.authorization ?? '')?.[1];
  if (secret === undefined) return { refusal: missingKey() };
  try {
    return { caller: await access.authenticate(secret) };
  } catch (error) {
    return { refusal: error as Error };
  }
};

const meter = (
  ctx: Context,
  access: Access,
  identity: Identity,
  trustProxy: number,
): Promise<Verdict | Banned> => {
  const asksOnly = ctx.method === 'OPTIONS';
  if ('caller' in identity && !asksOnly) return access.meterCaller(identity.caller);
  const peer = ctx.req.socket.remoteAddress ?? '';
  const forwardedFor = ctx.get('X-Forwarded-For') || undefined;
  const address = addressBucket(clientAddress(peer, forwardedFor, trustProxy));
  // A browser's preflight has no key, and our own failures must not count against the caller.
  if (asksOnly || 'caller' in identity || !isTheirs(identity.refusal)) {
    return access.peekAddress(address);
  }
  return access.meterAddress(address, identity.refusal instanceof DomainError);
};

const isTheirs = (refusal: Error): boolean =>
  refusal instanceof DomainError || refusal instanceof RequestError;

/** @throws RequestError `missing_api_key`; DomainError `invalid_api_key`; Unavailable */
export const callerOf = (ctx: Context): Caller => {
  const refusal: unknown = ctx.state['refusal'];
  if (refusal !== undefined) throw refusal as Error;
  return ctx.state['caller'] as Caller;
};

const missingKey = () =>
  new RequestError(
    'missing_api_key',
    'Send your API key in the header "Authorization: Bearer pets_live_…".',
  );
