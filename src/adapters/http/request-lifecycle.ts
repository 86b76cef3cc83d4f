import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../access/use-cases/callers.ts';
import type { Logger } from 'pino';
import type { AnsweredRequest } from '../../access/ports.ts';
import type { Clock } from '../../kernel/ports.ts';
import { shownPath } from '../../kernel/text.ts';
import { requestBeginning, requestName, tellAnswer, type Tracer } from '../../kernel/tracer.ts';
import type { Answer } from './answer.ts';
import { answerTo } from './error-table.ts';
import type { Handler, Response } from './listener/http-server.ts';
import type { Metrics } from './metrics/metrics.ts';

/** The target of a request (RFC 9112, section 3.2). */
export interface RequestTarget {
  readonly path: string;
  /** Without the question mark; empty without a query. */
  readonly query: string;
}

/** Reads the target. Nearly all clients send `/path?query`; a client of a proxy sends an absolute URL. */
export const requestTarget = (url: string): RequestTarget => {
  if (!url.startsWith('/')) return absoluteTarget(url);
  const fragment = url.indexOf('#');
  const sent = fragment === -1 ? url : url.slice(0, fragment);
  const question = sent.indexOf('?');
  return question === -1
    ? { path: sent, query: '' }
    : { path: sent.slice(0, question), query: sent.slice(question + 1) };
};

const absoluteTarget = (url: string): RequestTarget => {
  const address = URL.parse(url);
  return { path: address?.pathname ?? url, query: address?.search.slice(1) ?? '' };
};

/** A request, the facts found out about it, and the headers of its answer. */
export class RequestContext {
  readonly request: IncomingMessage;
  readonly requestId = randomUUID();
  readonly begun = performance.now();
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Alternating names and values, which Node sends without conversion. */
  readonly headers: string[];
  operation = 'none';
  caller: Caller | undefined;
  /** Why the caller is unknown; the operation decides whether that matters. */
  refusal: Error | undefined;
  overLimit: Error | undefined;

  /** @param headers the first headers of every answer, as a flat list */
  constructor(request: IncomingMessage, headers: readonly string[]) {
    const { path, query } = requestTarget(request.url ?? '');
    this.request = request;
    this.method = request.method ?? '';
    this.path = path;
    this.query = query;
    this.headers = ['X-Request-Id', this.requestId, ...headers];
  }

  add(headers: Readonly<Record<string, string>>): void {
    for (const name in headers) this.headers.push(name, headers[name] ?? '');
  }
}

export interface LifecyclePorts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Called after the answer of every request with a valid key. */
  readonly onAnswered: (request: AnsweredRequest) => void;
  /** The first headers of every answer, by name. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
}

/** What every request gets: an id, a log line, a metric and refusals of one shape. */
export class RequestLifecycle {
  readonly #ports: LifecyclePorts;
  readonly #fixed: readonly string[];

  constructor(ports: LifecyclePorts) {
    this.#ports = ports;
    this.#fixed = Object.entries(ports.fixedHeaders).flat();
  }

  begin(request: IncomingMessage, response: Response): RequestContext {
    const context = new RequestContext(request, this.#fixed);
    response.requestId = context.requestId;
    return context;
  }

  refuse({ requestId }: RequestContext, error: unknown): Answer {
    const { log } = this.#ports;
    const answer = answerTo(error);
    if (answer.status === 500) log.error({ requestId, err: error }, 'request failed');
    // An outage is logged once, where it is detected.
    if (answer.status === 503) log.debug({ requestId, err: error }, 'request refused');
    return answer;
  }

  /** Called once per request when its answer is known. Never throws: a full disk only loses the log line. */
  end(context: RequestContext, status: number): void {
    try {
      this.#record(context, status);
    } catch (error) {
      this.#ports.log.debug({ err: error }, 'request not recorded');
    }
  }

  #record(context: RequestContext, status: number): void {
    const { requestId, begun, method, path, operation, caller } = context;
    const { log, metrics, clock, onAnswered } = this.#ports;
    const elapsed = performance.now() - begun;
    metrics.observe(operation, status, elapsed / 1000);
    if (caller) {
      const { accountId, keyId } = caller;
      onAnswered({ accountId, keyId, operation, status, at: clock.now() });
    }
    const ms = Math.round(elapsed * 100) / 100;
    log.info({ requestId, method, path: shownPath(path), status, ms, keyId: caller?.keyId });
  }
}

/** Traces each request until its handler ends. Continues the caller's trace if there is one. */
export const tracedRequests =
  (tracer: Tracer, handle: Handler): Handler =>
  (request, response) => {
    const { path } = requestTarget(request.url ?? '');
    const beginning = { name: requestName(request), ...requestBeginning(request, 'http', path) };
    return tracer.begin(beginning, async (span) => {
      await handle(request, response);
      const { route, requestId } = response;
      if (route !== undefined) span.rename(requestName(request, route));
      const id = requestId ?? response.getHeader('X-Request-Id');
      span.tell({
        ...(route !== undefined && { 'http.route': route }),
        ...(typeof id === 'string' && { 'animal_store.request.id': id }),
      });
      tellAnswer(span, response.statusCode, response.destroyed && !response.writableEnded);
    });
  };
