import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Access } from '../../access/access.ts';
import { planLimits } from '../../access/domain/quota.ts';
import { shownPath } from '../../kernel/text.ts';
import { addressBucket } from './listener/client-address.ts';
import type { Answer } from './answer.ts';
import { answerTo } from './error-table.ts';
import type { AnswerRefusal, Refusal } from './listener/broken-requests.ts';
import { rateLimitHeaders, withNothingLeft } from './rate-limits.ts';
import type { LifecyclePorts } from './request-lifecycle.ts';

export interface RefusedPorts extends Omit<LifecyclePorts, 'onAnswered'> {
  readonly access: Access;
  /** Whether this process counts requests to the API. */
  readonly servesApi: boolean;
  /** Whether a browser shows what is at this path. */
  readonly isPage: (path: string) => boolean;
}

/** Longest wait for the count of remaining requests. */
const longestLookMs = 250;

/**
 * Answers a request that no application sees, with everything that other answers have: id, limits of the address, log
 * line, metric. It counts against no quota, because the operation and the caller are unknown. If the path is unknown
 * too, it answers as the API.
 */
export const answerRefused =
  (ports: RefusedPorts): AnswerRefusal =>
  async (refusal) => {
    const requestId = randomUUID();
    const isPage = refusal.path !== undefined && ports.isPage(refusal.path);
    const answer = isPage ? pageOf(refusal) : answerTo(refusal.error);
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
  { access, clock }: RefusedPorts,
): Promise<Readonly<Record<string, string>>> => {
  const now = clock.now();
  const verdict = await Promise.race([
    access.peekAddress(addressBucket(peer)),
    delay(longestLookMs, undefined, { ref: false }),
  ]).catch(() => undefined);
  return rateLimitHeaders(verdict ?? withNothingLeft(planLimits.free, now), now);
};

/** The messages are ours and contain nothing of the request. */
const pageOf = ({ error }: Refusal): Answer => {
  const { status, headers } = answerTo(error);
  return {
    status,
    headers: {
      ...headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    },
    body: `<!doctype html><html lang="en"><title>Request refused</title><h1>Request refused</h1><p>${escaped(error.message)}</p></html>\n`,
  };
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
