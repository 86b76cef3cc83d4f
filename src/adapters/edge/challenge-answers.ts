import type { Logger } from 'pino';
import { refuse, type EdgeRequest, type EdgeResponse } from './edge-answer.ts';
import type { RequestTarget } from './request-host.ts';

export const challengePrefix = '/.well-known/acme-challenge/';

/** base64url, at least 128 bits (RFC 8555, section 8.3); nothing else is looked up. */
const tokenPattern = /^[A-Za-z0-9_-]{22,128}$/;
/** A flood of challenge requests gets 503 instead of reaching the database. */
const mostAtOnce = 100;

/**
 * Answers challenges from the shared database, without a cache, so that every edge knows an answer as soon as it is
 * stored.
 */
export class ChallengeAnswers {
  readonly #find: (host: string, token: string) => Promise<string | undefined>;
  readonly #log: Logger;
  #asking = 0;

  /** @param find @throws Unavailable */
  constructor(find: (host: string, token: string) => Promise<string | undefined>, log: Logger) {
    this.#find = find;
    this.#log = log;
  }

  async serve(request: EdgeRequest, response: EdgeResponse, target: RequestTarget): Promise<void> {
    const token = tokenIn(target.path);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      refuse(request, response, 405, ['Allow', 'GET, HEAD']);
    } else if (!tokenPattern.test(token)) refuse(request, response, 404);
    else if (this.#asking >= mostAtOnce) refuse(request, response, 503, ['Retry-After', '1']);
    else await this.#answer(request, response, { host: target.host, token });
  }

  async #answer(
    request: EdgeRequest,
    response: EdgeResponse,
    { host, token }: { readonly host: string; readonly token: string },
  ): Promise<void> {
    this.#asking += 1;
    try {
      const answer = await this.#find(host, token);
      if (answer === undefined) refuse(request, response, 404);
      else send(request, response, answer);
    } catch (error) {
      this.#log.warn({ err: error, host }, 'challenge not answered');
      refuse(request, response, 503, ['Retry-After', '1']);
    } finally {
      this.#asking -= 1;
    }
  }
}

const tokenIn = (path: string): string => {
  const query = path.indexOf('?');
  return path.slice(challengePrefix.length, query === -1 ? undefined : query);
};

const send = (request: EdgeRequest, response: EdgeResponse, answer: string): void => {
  response.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'Content-Length': Buffer.byteLength(answer),
    'Cache-Control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : answer);
};
