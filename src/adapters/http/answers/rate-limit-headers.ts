import {
  type Limits,
  secondsUntil,
  windowNames,
  windowSeconds,
  type Verdict,
} from '../../../access/domain/quota.ts';
import type { Banned } from '../../../access/use-cases/callers.ts';
import { RequestError } from './error-table.ts';

/** On every answer: `X-RateLimit-*` (Unix seconds), and the fields of draft-ietf-httpapi-ratelimit-headers-10. */
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

/** A ban closes the minute window until it ends. */
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

/** Few accounts have limits of their own, so nearly all requests share a few texts. */
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

/** The refusal for a verdict; undefined if the request is allowed. */
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
