import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Access } from '../../access/access.ts';
import { planLimits } from '../../access/domain/plan.ts';
import type { Clock } from '../../kernel/clock.ts';
import { shownPath } from '../../kernel/shown-path.ts';
import { addressBucket } from './client-address.ts';
import { withNothingLeft } from './metering.ts';
import type { Metrics } from './metrics.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { bareAnswer, type AnswerRefusal, type Refusal, type RefusalAnswer } from './refusal.ts';

export interface RefusingPorts {
  readonly access: Access;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** On every answer of this server. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
  /** Whether this process counts requests to the API. */
  readonly servesApi: boolean;
  /** Whether a browser shows what is at this path. */
  readonly isPage: (path: string) => boolean;
}

/** Nobody waits longer for the number of requests that are left. */
const longestLookMs = 250;

/**
 * The answer to a request that no application sees, with all that every other answer has: id, limits of the address,
 * a line in the log, a measure. It counts against no quota: what was asked for, and by whom, is not known. Where the
 * path is not known either, the answer is that of the API.
 */
export const refusing =
  (ports: RefusingPorts): AnswerRefusal =>
  async (refusal) => {
    const requestId = randomUUID();
    const isPage = refusal.path !== undefined && ports.isPage(refusal.path);
    const answer = isPage ? pageOf(refusal) : bareAnswer(refusal);
    const hasLimits = ports.servesApi && !isPage;
    const limits = hasLimits ? await limitsOf(refusal.peer, ports) : {};
    const { status } = answer;
    const { method, path, reason } = refusal;
    ports.metrics.observe(isPage ? 'dashboard' : 'none', status, 0);
    const shown = { method, path: path === undefined ? undefined : shownPath(path) };
    ports.log.info({ requestId, ...shown, status, ms: 0, reason });
    const headers = { 'X-Request-Id': requestId, ...ports.fixedHeaders, ...limits };
    return { ...answer, headers: { ...headers, ...answer.headers } };
  };

const limitsOf = async (
  peer: string,
  { access, clock }: RefusingPorts,
): Promise<Readonly<Record<string, string>>> => {
  const now = clock.now();
  const verdict = await Promise.race([
    access.peekAddress(addressBucket(peer)),
    delay(longestLookMs, undefined, { ref: false }),
  ]).catch(() => undefined);
  return rateLimitHeaders(verdict ?? withNothingLeft(planLimits.free, now), now);
};

/** The messages are ours: nothing of the request stands in them. */
const pageOf = (refusal: Refusal): RefusalAnswer => {
  const { status, headers } = bareAnswer(refusal);
  const { message } = refusal.error;
  return {
    status,
    headers: {
      ...headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    },
    body: `<!doctype html><html lang="en"><title>Request refused</title><h1>Request refused</h1><p>${escaped(message)}</p></html>\n`,
  };
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
