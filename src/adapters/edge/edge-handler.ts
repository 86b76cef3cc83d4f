import type { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { requestBeginning, requestName, tellAnswer, type Tracer } from '../../kernel/tracer.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import { isAbsolute, redirectTarget } from '../../domains/domain/redirects/target.ts';
import type { Route } from '../../domains/domain/redirects/routes.ts';
import type { Answers } from './answers.ts';
import { refuse, type EdgeRequest, type EdgeResponse } from './edge-answer.ts';
import {
  hostNamed,
  isRepeated,
  portNamed,
  requestTargetOf,
  type RequestTarget,
} from './request-host.ts';
import { challengePrefix, type ChallengeAnswers } from './challenge-answers.ts';
import type { RouteTable } from './route-table.ts';
import { serveSite, type SiteRequest } from './serve-site.ts';
import type { SiteShelf } from './site-shelf.ts';

export interface EdgePorts {
  readonly routes: RouteTable;
  readonly shelf: SiteShelf;
  readonly challenges: ChallengeAnswers;
  readonly log: Logger;
  /** The unit that visitors are counted by: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly networkOf: (address: string) => string;
}

export type EdgeHandler = (request: EdgeRequest, response: EdgeResponse) => void;

/** Of `rawHeaders`, where names and values alternate. Node would keep a thousand headers and drop the rest in silence. */
const tooManyHeaders = 2 * 100;

/** Begins a trace with each request, or continues its visitor's, until its answer has been sent or given up. */
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

/** A request over TLS. The connection was made for one host, and the request has to be for that same one. */
export const secureHandler =
  (ports: EdgePorts, answers: Answers): EdgeHandler =>
  (request, response) => {
    const answer = answers.begin(request, response);
    if (!answer) return;
    const target = targetOr400(request, response);
    if (!target) return;
    const { host, path } = target;
    // As the first handshake named it, because the socket would forget that name in a second one.
    const isForHost = answer.line.host === host;
    // Checked for each request, because a connection may outlive its host.
    const route = isForHost ? ports.routes.find(host) : undefined;
    if (!route) refuse(request, response, 421);
    else if (route.kind === 'site')
      serve(ports, { answers, answer, request, response, deployId: route.deployId, path });
    else redirect(request, response, route, path);
  };

/** A request without TLS goes to HTTPS, with its path and query, on hosts that are served. */
export const plainHandler =
  (
    { routes, challenges }: Pick<EdgePorts, 'routes' | 'challenges'>,
    ports: { readonly http: number; readonly https: number },
  ): EdgeHandler =>
  (request, response) => {
    const target = targetOr400(request, response);
    if (!target) return;
    if (target.path.startsWith(challengePrefix)) {
      void challenges.serve(request, response, target);
      return;
    }
    if (!routes.find(target.host)) {
      refuse(request, response, 404);
      return;
    }
    const port = portFor(request, ports.http, ports.https);
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
  // A host is one of the same project, which we serve too.
  const base = isAbsolute(to) ? to : `https://${to}${portFor(request, localPort, localPort)}`;
  refuse(request, response, status, ['Location', redirectTarget(base, path, query)]);
};

/** Visitors of our own port are redirected to our own port; others came through a proxy with the usual ports. */
const portFor = (
  request: EdgeRequest,
  own: number | undefined,
  https: number | undefined,
): string => {
  const named = portNamed(authorityOf(request) ?? '');
  return named !== undefined && named === own && https !== 443 ? `:${String(https)}` : '';
};

const targetOr400 = (request: EdgeRequest, response: EdgeResponse): RequestTarget | undefined => {
  const { rawHeaders } = request;
  if (rawHeaders.length >= tooManyHeaders) {
    refuse(request, response, 431);
    return undefined;
  }
  const target = isRepeated(rawHeaders, 'host')
    ? undefined
    : requestTargetOf(request.url ?? '', authorityOf(request));
  if (!target) refuse(request, response, 400);
  return target;
};

/** HTTP/2 has `:authority`, with which a Host has to agree. */
const authorityOf = ({ headers, authority }: EdgeRequest): string | undefined => {
  if (!authority) return headers.host;
  const isAgreed = headers.host === undefined || hostNamed(headers.host) === hostNamed(authority);
  return isAgreed ? authority : undefined;
};

/** HTTP/2 hides it behind its session. */
const socketOf = ({ stream, socket }: EdgeRequest) =>
  (stream?.session?.socket ?? socket) as Partial<TLSSocket>;

const serve = ({ shelf, log }: EdgePorts, visit: SiteRequest): void => {
  try {
    serveSite(shelf, visit)?.catch((error: unknown) => {
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
  // With an error, so that the answer does not look complete.
  if (response.headersSent) response.destroy(error as Error);
  else if (error instanceof Unavailable) refuse(request, response, 503, ['Retry-After', '1']);
  else refuse(request, response, 500);
};
