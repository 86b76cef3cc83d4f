import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../access/use-cases/authenticate.ts';

/** What a request asks for (RFC 9112, section 3.2). */
export interface RequestTarget {
  readonly path: string;
  /** Without its question mark; empty if there is none. */
  readonly query: string;
}

/** Nearly all clients send `/path?query`; a client of a proxy sends an absolute address. */
export const requestTarget = (url: string): RequestTarget => {
  if (!url.startsWith('/')) return absoluteTarget(url);
  const fragment = url.indexOf('#');
  const sent = fragment === -1 ? url : url.slice(0, fragment);
  const question = sent.indexOf('?');
  return question === -1
    ? { path: sent, query: '' }
    : { path: sent.slice(0, question), query: sent.slice(question + 1) };
};

/** `*` of OPTIONS stays as it is. */
const absoluteTarget = (url: string): RequestTarget => {
  const address = URL.parse(url);
  return { path: address?.pathname ?? url, query: address?.search.slice(1) ?? '' };
};

/** A request, what the steps found out about it, and the headers that every answer to it has. */
export class RequestContext {
  readonly request: IncomingMessage;
  readonly requestId = randomUUID();
  /** In monotonic milliseconds. */
  readonly begun = performance.now();
  readonly method: string;
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  /** Names and values in turns: Node sends such a list as it is. */
  readonly headers: string[];
  /** For the metrics and the usage. */
  operation = 'none';
  caller: Caller | undefined;
  /** Why the caller is unknown; the operation decides whether that matters. */
  refusal: Error | undefined;
  /** Why a caller is not admitted. */
  overLimit: Error | undefined;

  /** @param headers those that are set on every answer first, as a flat list */
  constructor(request: IncomingMessage, headers: readonly string[]) {
    const { path, query } = requestTarget(request.url ?? '');
    this.request = request;
    this.method = request.method ?? '';
    this.path = path;
    this.query = query;
    this.headers = ['X-Request-Id', this.requestId, ...headers];
  }

  /** Headers for every answer, by name. */
  add(headers: Readonly<Record<string, string>>): void {
    for (const name in headers) this.headers.push(name, headers[name] ?? '');
  }
}
