import type { Answer } from './answer.ts';
import type { RequestContext } from './request-lifecycle.ts';

const preflightHeaders = {
  'Access-Control-Max-Age': '600',
  'Access-Control-Allow-Methods': 'GET,HEAD,POST,OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization,Content-Type,Idempotency-Key',
};

const exposed = [
  'Deprecation',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(',');

/**
 * Lets pages of these origins read every answer (Fetch standard, "CORS protocol").
 * @param origins as browsers send them; `*` is any
 * @returns the answer to a preflight; undefined for all other requests
 */
export const crossOrigin = (
  origins: readonly string[],
): ((context: RequestContext) => Answer | undefined) => {
  const isAny = origins.includes('*');
  return (context) => {
    const { headers } = context.request;
    const { origin } = headers;
    if (origin === undefined || origin === '') return undefined;
    if (!isAny && !origins.includes(origin)) return undefined;
    if (context.method !== 'OPTIONS') {
      context.headers.push('Access-Control-Allow-Origin', origin);
      context.headers.push('Access-Control-Expose-Headers', exposed);
      return undefined;
    }
    if (!headers['access-control-request-method']) return undefined;
    context.headers.push('Access-Control-Allow-Origin', origin);
    return { status: 204, headers: preflightHeaders, body: undefined };
  };
};
