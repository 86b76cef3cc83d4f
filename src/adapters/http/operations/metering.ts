import type { Access } from '../../../access/access.ts';
import { planLimits, type Limits, judge, type Verdict } from '../../../access/domain/quota.ts';
import type { Caller, Banned } from '../../../access/use-cases/callers.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { DomainError } from '../../../kernel/domain-error.ts';
import type { Exchange } from './exchange.ts';
import { addressBucket, clientAddress } from '../listener/client-address.ts';
import { RequestError } from '../answers/error-table.ts';
import { overLimit, rateLimitHeaders } from '../answers/rate-limit-headers.ts';

export interface MeteringPorts {
  readonly access: Access;
  readonly clock: Clock;
  /** How many proxies' X-Forwarded-For to believe. */
  readonly trustProxy: number;
}

/** Whether it is everything under /v1. */
export const isCounted = ({ path }: Exchange): boolean => path === '/v1' || path.startsWith('/v1/');

/**
 * Runs before everything under /v1: identifies the caller, counts the request against the account or the address, and
 * adds the limits to every answer. Callers over a limit are refused later by `admit`, once the operation is known.
 */
export const measure = async (exchange: Exchange, ports: MeteringPorts): Promise<void> => {
  const { access, clock, trustProxy } = ports;
  await identify(exchange, access);
  const now = clock.now();
  try {
    const verdict = await meter(exchange, access, trustProxy);
    exchange.add(rateLimitHeaders(verdict, now));
    exchange.overLimit = overLimit(verdict, now);
  } catch (error) {
    // The remaining quota is unknown, so the answer promises nothing and reports the failure.
    const limits = exchange.caller?.limits ?? planLimits.free;
    exchange.add(rateLimitHeaders(withNothingLeft(limits, now), now));
    exchange.overLimit = error as Error;
  }
};

/** The limits to report when the counts cannot be read. */
export const withNothingLeft = (limits: Limits, now: Date): Verdict =>
  judge(limits, { minute: limits.perMinute, day: 0 }, false, now);

/** Admits only requests within the limits. @throws RequestError 429; Unavailable */
export const admit = ({ overLimit }: Exchange): void => {
  if (overLimit !== undefined) throw overLimit;
};

const bearer = /^Bearer +([^\s]+) *$/i;

const identify = async (exchange: Exchange, access: Access): Promise<void> => {
  const secret = bearer.exec(exchange.request.headers.authorization ?? '')?.[1];
  if (secret === undefined) exchange.refusal = missingKey();
  else {
    try {
      exchange.caller = await access.authenticate(secret);
    } catch (error) {
      exchange.refusal = error as Error;
    }
  }
};

const meter = (
  { request, method, caller, refusal }: Exchange,
  access: Access,
  trustProxy: number,
): Promise<Verdict | Banned> => {
  const asksOnly = method === 'OPTIONS';
  if (caller && !asksOnly) return access.meterCaller(caller);
  const peer = request.socket.remoteAddress ?? '';
  const forwardedFor = textOf(request.headers['x-forwarded-for']);
  const address = addressBucket(clientAddress(peer, forwardedFor, trustProxy));
  // A browser's preflight has no key, and our own failures must not count against the caller.
  if (asksOnly || !isTheirs(refusal)) return access.peekAddress(address);
  return access.meterAddress(address, refusal instanceof DomainError);
};

/** Node joins the lines of this header with commas. */
const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  header === undefined || header === '' ? undefined : String(header);

const isTheirs = (refusal: Error | undefined): boolean =>
  refusal instanceof DomainError || refusal instanceof RequestError;

/** @throws RequestError `missing_api_key`; DomainError `invalid_api_key`; Unavailable */
export const callerOf = ({ caller, refusal }: Exchange): Caller => {
  if (caller) return caller;
  throw refusal ?? missingKey();
};

const missingKey = () =>
  new RequestError(
    'missing_api_key',
    'Send your API key in the header "Authorization: Bearer pets_live_…".',
  );
