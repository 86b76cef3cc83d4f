import type { IncomingMessage } from 'node:http';
import type { Access } from '../../access/access.ts';
import {
  planLimits,
  type Limits,
  judge,
  secondsUntil,
  windowNames,
  windowSeconds,
  type Verdict,
} from '../../access/domain/quota.ts';
import type { Caller, Banned } from '../../access/use-cases/callers.ts';
import type { Clock } from '../../kernel/ports.ts';
import { DomainError } from '../../kernel/decision.ts';
import { RequestError } from './error-table.ts';
import { addressBucket, clientAddress } from './listener/client-address.ts';
import type { RequestContext } from './request-lifecycle.ts';

export interface MeteringPorts {
  readonly access: Access;
  readonly clock: Clock;
  readonly trustProxy: number;
}

/** Below these paths every request counts, and every answer states the limits. */
const meteredRoots = ['/v1', '/deploys'];

const isMetered = (path: string): boolean =>
  meteredRoots.some(
    (root) => path.startsWith(root) && (path.length === root.length || path[root.length] === '/'),
  );

/**
 * Identifies the caller of an operation, counts the request against the account or address, and adds the limits to
 * every answer. `admit` refuses callers over a limit later, when the operation is known.
 */
export const meter = async (
  context: RequestContext,
  { access, clock, trustProxy }: MeteringPorts,
): Promise<void> => {
  if (!isMetered(context.path)) return;
  try {
    context.caller = await identify(context.request, access);
  } catch (error) {
    context.refusal = error as Error;
  }
  const now = clock.now();
  try {
    const verdict = await count(context, access, trustProxy);
    context.add(rateLimitHeaders(verdict, now));
    context.overLimit = overLimit(verdict, now);
  } catch (error) {
    // The remaining quota is unknown, so the answer promises nothing and reports the failure.
    const limits = context.caller?.limits ?? planLimits.free;
    context.add(rateLimitHeaders(withNothingLeft(limits, now), now));
    context.overLimit = error as Error;
  }
};

export const withNothingLeft = (limits: Limits, now: Date): Verdict =>
  judge(limits, { minute: limits.perMinute, day: 0 }, false, now);

/** Admits only requests within the limits. @throws RequestError 429; Unavailable */
export const admit = ({ overLimit }: RequestContext): void => {
  if (overLimit !== undefined) throw overLimit;
};

const bearer = /^Bearer +([^\s]+) *$/i;

/** @throws RequestError `missing_api_key`; DomainError `invalid_api_key`; Unavailable */
export const identify = (
  { headers }: IncomingMessage,
  access: Pick<Access, 'authenticate'>,
): Promise<Caller> => {
  const secret = bearer.exec(headers.authorization ?? '')?.[1];
  return secret === undefined ? Promise.reject(missingKey()) : access.authenticate(secret);
};

const count = (
  { request, method, caller, refusal }: RequestContext,
  access: Access,
  trustProxy: number,
): Promise<Verdict | Banned> => {
  if (caller) return access.meterCaller(caller);
  const peer = request.socket.remoteAddress ?? '';
  const forwardedFor = textOf(request.headers['x-forwarded-for']);
  const address = addressBucket(clientAddress(peer, forwardedFor, trustProxy));
  // A browser's preflight has no key, and our own failures must not count against the caller.
  const isPreflight = method === 'OPTIONS' && request.headers.authorization === undefined;
  if (isPreflight || !isTheirs(refusal)) return access.peekAddress(address);
  return access.meterAddress(address, refusal instanceof DomainError);
};

/** Node joins repeated headers with commas. */
const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  header === undefined || header === '' ? undefined : String(header);

const isTheirs = (refusal: Error | undefined): boolean =>
  refusal instanceof DomainError || refusal instanceof RequestError;

/** @throws RequestError `missing_api_key`; DomainError `invalid_api_key`; Unavailable */
export const callerOf = ({ caller, refusal }: RequestContext): Caller => {
  if (caller) return caller;
  throw refusal ?? missingKey();
};

const missingKey = () => new RequestError('missing_api_key');

/** The headers of every answer: `X-RateLimit-*` (Unix seconds) and draft-ietf-httpapi-ratelimit-headers-10. */
export const rateLimitHeaders = (
  verdict: Verdict | Banned,
  now: Date,
): Readonly<Record<string, string>> => {
  const { limit, remaining, resetAt, window } = spokenFor(verdict);
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(Math.ceil(resetAt.getTime() / 1000)),
    'RateLimit-Policy': policyOf(verdict.limits),
    RateLimit: `"${window}";r=${String(remaining)};t=${String(secondsUntil(resetAt, now))}`,
  };
};

/** Presents a ban as a used-up minute window that ends with the ban. */
const spokenFor = (verdict: Verdict | Banned): Verdict['speaks'] =>
  verdict.kind === 'banned'
    ? {
        window: 'minute',
        limit: verdict.limits.perMinute,
        remaining: 0,
        resetAt: verdict.ban.until,
      }
    : verdict.speaks;

/** Structured fields allow at most 15 digits (RFC 9651). */
const largestInField = 999_999_999_999_999;

const mostPolicies = 1000;
const policies = new Map<string, string>();

/** Few accounts have custom limits, so nearly all requests share a few texts. */
const policyOf = (limits: Limits): string => {
  const key = `${String(limits.perMinute)} ${String(limits.perDay)}`;
  const known = policies.get(key);
  if (known !== undefined) return known;
  if (policies.size >= mostPolicies) policies.clear();
  const policy = policyFor(limits);
  policies.set(key, policy);
  return policy;
};

const policyFor = ({ perMinute, perDay }: Limits): string => {
  const quota = { minute: perMinute, day: perDay };
  return windowNames
    .filter((window) => quota[window] <= largestInField)
    .map((window) => `"${window}";q=${String(quota[window])};w=${String(windowSeconds[window])}`)
    .join(', ');
};

export const overLimit = (verdict: Verdict | Banned, now: Date): RequestError | undefined => {
  if (verdict.kind === 'allowed') return undefined;
  const { window, limit, resetAt } = spokenFor(verdict);
  const seconds = String(secondsUntil(resetAt, now));
  const headers = { 'Retry-After': seconds };
  if (verdict.kind === 'banned') {
    return new RequestError(
      'key_banned',
      `This key kept calling after it was refused and is banned until ${resetAt.toISOString()}. ` +
        'Requests until then do not prolong the ban.',
      headers,
    );
  }
  return new RequestError(
    window === 'minute' ? 'rate_limit_exceeded' : 'daily_quota_exceeded',
    `The limit of ${String(limit)} requests a ${window} (UTC) is used up. Try again in ${seconds} s, and wait ` +
      'longer each time you are refused.',
    headers,
  );
};
