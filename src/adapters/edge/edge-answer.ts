import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';

/** An HTTP/1.1 or HTTP/2 request. Node's compatibility layer gives HTTP/2 requests the same members plus these two. */
export type EdgeRequest = IncomingMessage & {
  readonly authority?: string;
  readonly stream?: ServerHttp2Stream;
};
export type EdgeResponse = ServerResponse;

/**
 * Answers with the edge's own error page, without tenant data. The request body stays unread, so the connection closes.
 */
export const refuse = (
  request: EdgeRequest,
  response: EdgeResponse,
  status: number,
  headers: readonly string[] = [],
): void => {
  const body = `${String(status)} ${STATUS_CODES[status] ?? ''}\n`;
  const ends = request.httpVersionMajor === 1 && hasBody(request);
  const own = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(body.length),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(ends && { Connection: 'close' }),
  };
  response.writeHead(status, [...Object.entries(own).flat(), ...headers]);
  response.end(request.method === 'HEAD' ? undefined : body);
};

const hasBody = ({ headers }: EdgeRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
