import type { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { isPreview, type Route } from '../../domains/domain/redirects/redirects.ts';
import { isAbsolute, redirectTarget } from '../../domains/domain/redirects/settings.ts';
import { timesSent } from '../../kernel/incoming.ts';
import { requestBeginning, requestName, tellAnswer, type Tracer } from '../../kernel/tracer.ts';
import { Unavailable } from '../../kernel/ports.ts';
import type { Answers } from './answers.ts';
import type { RouteTable } from './route-table.ts';
import { serveSite, type SiteRequest } from './serve-site.ts';
import type { SiteCache } from './site-cache.ts';
import { hostNamed, portNamed, requestTargetOf, type RequestTarget } from './request-host.ts';
import { refuse, type EdgeRequest, type EdgeResponse } from './edge-answer.ts';

export interface EdgePorts {
  readonly routes: RouteTable;
  readonly cache: SiteCache;
  readonly challenges: ChallengeAnswers;
  readonly log: Logger;
  readonly networkOf: (address: string) => string;
}

export type EdgeHandler = (request: EdgeRequest, response: EdgeResponse) => void;

const tooManyHeaders = 2 * 100;

export const tracedVisits =
  (tracer: Tracer, scheme: 'http' | 'https', handle: EdgeHandler): EdgeHandler =>
  (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const name = requestName(request, 'site');
    void tracer.begin({ name, ...requestBeginning(request, scheme, path) }, async (span) => {
      const closed = Promise.withResolvers<undefined>();
      response.once('close', () => {
        closed.resolve(undefined);
      });
      handle(request, response);
      await closed.promise;
      tellAnswer(span, response.statusCode, !response.writableFinished);
    });
  };

/** Each request must be for the host that its connection was opened for. */
export const secureHandler =
  (ports: EdgePorts, answers: Answers): EdgeHandler =>
  (request, response) => {
    const answer = answers.begin(request, response);
    if (!answer) return;
    const target = targetOr400(request, response);
    if (!target) return;
    const { host, path } = target;
    // Uses the name from the first handshake, because a second one would overwrite the socket's.
    const isForHost = answer.connection.host === host;
    // Checked for each request, because the host may be removed while the connection is open.
    const route = isForHost ? ports.routes.find(host) : undefined;
    if (!route) refuse(request, response, 421);
    else if (route.kind === 'site')
      serve(ports, { answers, answer, request, response, ...servedBy(route), path });
    else redirect(request, response, route, path);
  };

type SiteRoute = Extract<Route, { kind: 'site' }>;

const servedBy = ({ name, deployId }: SiteRoute) => ({ deployId, isPreview: isPreview(name) });

export interface PlainTerms {
  readonly answers: Answers;
  readonly listens: { readonly http: number; readonly https: number };
  readonly previews: boolean;
}

export const plainHandler =
  (ports: EdgePorts, { answers, listens, previews }: PlainTerms): EdgeHandler =>
  (request, response) => {
    const { routes, challenges } = ports;
    const target = targetOr400(request, response);
    if (!target) return;
    if (target.path.startsWith(challengePrefix)) {
      answers.requests += 1;
      void challenges.serve(request, response, target);
      return;
    }
    const route = routes.find(target.host);
    const isBare = route !== undefined && isPreview(route.name) && !routes.certificate(target.host);
    if (isBare && previews && route.kind === 'site') {
      const answer = answers.begin(request, response);
      if (!answer) return;
      answer.connection.host = target.host;
      const { path } = target;
      serve(ports, { answers, answer, request, response, ...servedBy(route), path });
      return;
    }
    answers.requests += 1;
    if (!route || isBare) {
      refuse(request, response, 404);
      return;
    }
    const port = portFor(request, listens.http, listens.https);
    refuse(request, response, 308, ['Location', `https://${target.host}${port}${target.path}`]);
  };

const redirect = (
  request: EdgeRequest,
  response: EdgeResponse,
  { to, status }: Extract<Route, { kind: 'redirect' }>,
  target: string,
): void => {
  const [path = '/', query = ''] = target.split(/\?(.*)/s);
  const { localPort } = socketOf(request);
  const base = isAbsolute(to) ? to : `https://${to}${portFor(request, localPort, localPort)}`;
  refuse(request, response, status, ['Location', redirectTarget(base, path, query)]);
};

/** Keeps our own port if the visitor used it. Other visitors came through a proxy with the usual ports. */
const portFor = (
  request: EdgeRequest,
  own: number | undefined,
  https: number | undefined,
): string => {
  const named = portNamed(authorityOf(request) ?? '');
  return named !== undefined && named === own && https !== 443 ? `:${String(https)}` : '';
};

const targetOr400 = (request: EdgeRequest, response: EdgeResponse): RequestTarget | undefined => {
  const { rawHeaders, headers } = request;
  if (rawHeaders.length >= tooManyHeaders) {
    refuse(request, response, 431);
    return undefined;
  }
  // Chunks have no use here, cost much when they are tiny, and can hide another request (RFC 9110, section 9.3.1).
  const isUnclear = timesSent(rawHeaders, 'host') > 1 || headers['transfer-encoding'] !== undefined;
  const target = isUnclear ? undefined : requestTargetOf(request.url ?? '', authorityOf(request));
  if (!target) refuse(request, response, 400);
  return target;
};

/** In HTTP/2, `Host` must match `:authority`. */
const authorityOf = ({ headers, authority }: EdgeRequest): string | undefined => {
  if (!authority) return headers.host;
  const isAgreed = headers.host === undefined || hostNamed(headers.host) === hostNamed(authority);
  return isAgreed ? authority : undefined;
};

const socketOf = ({ stream, socket }: EdgeRequest) =>
  (stream?.session?.socket ?? socket) as Partial<TLSSocket>;

const serve = ({ cache, log }: EdgePorts, visit: SiteRequest): void => {
  try {
    serveSite(cache, visit)?.catch((error: unknown) => {
      answerFailure(log, visit, error);
    });
  } catch (error) {
    answerFailure(log, visit, error);
  }
};

const answerFailure = (
  log: Logger,
  { answers, request, response, deployId }: SiteRequest,
  error: unknown,
): void => {
  answers.failed += 1;
  if (error instanceof Unavailable) log.warn({ err: error, deployId }, 'site not served');
  else log.error({ err: error, deployId }, 'site not served');
  // Destroyed with an error, so that the incomplete answer does not look complete.
  if (response.headersSent) response.destroy(error as Error);
  else if (error instanceof Unavailable) refuse(request, response, 503, ['Retry-After', '1']);
  else refuse(request, response, 500);
};

const challengePrefix = '/.well-known/acme-challenge/';

/** base64url with at least 128 bits (RFC 8555, section 8.3). Tokens of another form are not looked up. */
const tokenPattern = /^[A-Za-z0-9_-]{22,128}$/;
const mostAtOnce = 100;

/** Reads challenges from the shared database without a cache, so that every edge answers at once. */
export class ChallengeAnswers {
  readonly #find: (host: string, token: string) => Promise<string | undefined>;
  readonly #log: Logger;
  #asking = 0;

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
