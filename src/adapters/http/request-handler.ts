import type { Answer } from './answer.ts';
import { send } from './send-answer.ts';
import type { Response } from './listener/http-server.ts';
import type { IncomingMessage } from 'node:http';
import Koa from 'koa';
import type { Logger } from 'pino';
import type { Deadline } from '../../kernel/ports.ts';
import { RequestLifecycle, type LifecyclePorts, type RequestContext } from './request-lifecycle.ts';
import { RequestError } from './error-table.ts';
import { admit } from './rate-limits.ts';

export interface ExtraSteps {
  readonly meter?: (context: RequestContext) => Promise<void>;
  /** Lets pages of other origins read the answer. @returns the answer to a preflight */
  readonly crossOrigin?: (context: RequestContext) => Answer | undefined;
}

/** Resolves when the request is answered. Never rejects. */
export type RequestHandler = (request: IncomingMessage, response: Response) => Promise<void>;

/** Answers with these routes. Each answer is one `writeHead` and one `end`. */
export const requestHandler = (
  ports: LifecyclePorts,
  routes: readonly Route[],
  { meter, crossOrigin }: ExtraSteps = {},
): RequestHandler => {
  const lifecycle = new RequestLifecycle(ports);
  const route = routing(routes);

  /** @returns the status of the refusal; 500 if the refusal could not be sent */
  const refuse = (context: RequestContext, response: Response, error: unknown): number => {
    try {
      const answer = lifecycle.refuse(context, error);
      send(response, context.headers, answer);
      return answer.status;
    } catch {
      response.destroy();
      return 500;
    }
  };

  return async (request, response) => {
    const context = lifecycle.begin(request, response);
    let status: number;
    try {
      await meter?.(context);
      const answer = crossOrigin?.(context) ?? (await route(context, response));
      send(response, context.headers, answer);
      status = answer.status;
    } catch (error) {
      status = refuse(context, response, error);
    }
    lifecycle.end(context, status);
  };
};

/** Starts each request's deadline when its processing begins, after its headers were read. */
export const timed =
  (deadline: Deadline, handle: RequestHandler): RequestHandler =>
  (request, response) =>
    deadline.during(() => handle(request, response));

/** Combines all in one Koa application: pages at /dashboard and, for browsers, at /; `answer` handles the rest. */
export const webApp = (
  answer: RequestHandler,
  pages: { addTo(app: Koa): void } | undefined,
  log: Pick<Logger, 'debug'>,
): Koa => {
  const app = new Koa();
  app.use((ctx, next) => {
    if (pages && isPage(ctx.req)) return next();
    // One `writeHead` per answer is much faster than Koa's separate headers.
    ctx.respond = false;
    return answer(ctx.req, ctx.res as Response);
  });
  pages?.addTo(app);
  // Only broken connections cause this event.
  app.on('error', (error: unknown) => {
    log.debug({ err: error }, 'connection failed');
  });
  return app;
};

export const isPagePath = (path: string): boolean => /^\/dashboard([/?]|$)/.test(path);

const isPage = ({ method = '', url = '', headers }: IncomingMessage): boolean =>
  isPagePath(url) ||
  (/^\/(\?|$)/.test(url) && ['GET', 'HEAD'].includes(method) && prefersPages(headers.accept));

/** Browsers accept HTML; API clients accept JSON or anything. */
const prefersPages = (accept = ''): boolean => /\btext\/html\b/i.test(accept);

export interface Route {
  readonly method: 'GET' | 'POST';
  /** A segment in braces is a parameter, as in OpenAPI: `/v1/pets/{petId}`. */
  readonly path: string;
  readonly operation?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answer: (context: RequestContext, parameters: Parameters) => Promise<Answer> | Answer;
}

type Parameters = Readonly<Record<string, string>>;

/** The routes of one path by verb, and the path's parameters in a request. */
interface KnownPath {
  readonly path: string;
  readonly verbs: ReadonlyMap<string, Route>;
  readonly parameters: Parameters;
}

/**
 * Finds the route for the request's path and verb, and answers if the request is within its limits. Paths match
 * exactly, including case and slashes. HEAD is answered as GET. Known paths list their verbs (405, OPTIONS); unknown
 * paths answer 404. A table of exact paths costs a tenth of a general router, which tries one expression after another.
 */
const routing = (
  routes: readonly Route[],
): ((context: RequestContext, response: Response) => Promise<Answer> | Answer) => {
  const find = pathFinder(routes);
  return (context, response) => {
    const { method, path } = context;
    const known = find(path);
    response.route = known?.path;
    const route = known?.verbs.get(method === 'HEAD' ? 'GET' : method);
    if (route?.operation !== undefined) context.operation = route.operation;
    if (route?.headers) context.add(route.headers);
    admit(context);
    if (!known) throw notFound(path);
    return route ? route.answer(context, known.parameters) : withoutRoute(context, known);
  };
};

const notFound = (path: string) =>
  new RequestError(
    'route_not_found',
    `There is nothing at ${path.slice(0, 200)}. The reference at /docs lists all paths.`,
  );

const withoutRoute = ({ method, path }: RequestContext, { verbs }: KnownPath): Answer => {
  const all = [...verbs.keys(), ...(verbs.has('GET') ? ['HEAD'] : [])].sort();
  const allow = [...all, 'OPTIONS'].join(', ');
  if (method === 'OPTIONS') return { status: 204, headers: { Allow: allow }, body: undefined };
  throw new RequestError(
    'method_not_allowed',
    `${path} does not accept ${method}; use one of ${allow}.`,
    { Allow: allow },
  );
};

const pathFinder = (routes: readonly Route[]): ((path: string) => KnownPath | undefined) => {
  const exact = new Map<string, KnownPath>();
  const patterns = new Map<string, Omit<KnownPath, 'parameters'> & { readonly shape: RegExp }>();
  for (const [path, some] of Map.groupBy(routes, (route) => route.path)) {
    const verbs = new Map(some.map((route) => [route.method, route]));
    if (path.includes('{')) patterns.set(path, { path, verbs, shape: shapeOf(path) });
    else exact.set(path, { path, verbs, parameters: {} });
  }
  return (asked) => {
    const known = exact.get(asked);
    if (known) return known;
    for (const { path, verbs, shape } of patterns.values()) {
      const match = shape.exec(asked);
      if (match) return { path, verbs, parameters: decoded(match.groups ?? {}) };
    }
    return undefined;
  };
};

/** A segment that cannot be decoded stays unchanged, because no route matches it. */
const decoded = (groups: Parameters): Parameters =>
  Object.fromEntries(
    Object.entries(groups).map(([name, text]) => {
      try {
        return [name, decodeURIComponent(text)];
      } catch {
        return [name, text];
      }
    }),
  );

const shapeOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
