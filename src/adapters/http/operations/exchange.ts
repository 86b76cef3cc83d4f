import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../../access/use-cases/callers.ts';
import type { RequestTarget } from './request-target.ts';

/** A request, what the steps found out about it, and the headers that every answer to it has. */
export class Exchange {
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
  /** The pattern of its path, for traces; undefined where nothing is. */
  route: string | undefined;
  caller: Caller | undefined;
  /** Why the caller is unknown; the operation decides whether that matters. */
  refusal: Error | undefined;
  /** Why a caller is not admitted. */
  overLimit: Error | undefined;

  /** @param headers those that are set on every answer first, as a flat list */
  constructor(
    request: IncomingMessage,
    { path, query }: RequestTarget,
    headers: readonly string[],
  ) {
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
