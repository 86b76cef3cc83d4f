import type { IncomingMessage } from 'node:http';
import { RequestError, type ErrorCode } from '../error-table.ts';

/** An error of Node's parser, or of its clock. */
export type ParserError = Error & { readonly code?: string; readonly rawPacket?: Buffer };

interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
}

const malformed = 'The request is not valid HTTP/1.1';

/** What some of the parser's errors mean in particular. */
const faults: Readonly<Record<string, Fault>> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers_too_large',
    message: 'The address and the headers together are larger than 16 KiB; send less.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'payload_too_large',
    message: 'The extensions of the chunks are larger than 16 KiB; send chunks without extensions.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    message: 'The headers did not arrive within 10 seconds. Send the request again.',
  },
  HPE_INVALID_VERSION: {
    code: 'malformed_request',
    message: `${malformed}: the version is unknown. Send HTTP/1.1 or HTTP/1.0.`,
  },
  HPE_PAUSED_H2_UPGRADE: {
    code: 'malformed_request',
    message: `${malformed} but HTTP/2, which is not supported here. Send HTTP/1.1.`,
  },
  HPE_INVALID_METHOD: {
    code: 'malformed_request',
    message: `${malformed}: the method is unknown, or the connection speaks TLS. Send plain HTTP.`,
  },
};

/** @returns undefined when the connection broke, so that no client is left to answer */
export const unreadable = ({ code = '' }: ParserError): RequestError | undefined => {
  const known = faults[code];
  if (known) return new RequestError(known.code, known.message);
  if (!code.startsWith('HPE_')) return undefined;
  const detail = code.slice('HPE_'.length).toLowerCase().replaceAll('_', ' ');
  return new RequestError('malformed_request', `${malformed} (${detail}).`);
};

/** The request line, if the unreadable part contains it. */
export const firstLineOf = ({
  rawPacket,
}: ParserError): { readonly method?: string; readonly path?: string } => {
  const start = rawPacket?.toString('latin1', 0, 2048) ?? '';
  const [, method, path] = /^([A-Z]{1,20}) ([^ \r\n]{1,2000})/.exec(start) ?? [];
  return { ...(method && { method }), ...(path && { path: path.split('?', 1)[0] ?? '' }) };
};

const hostShape = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(?::\d{1,5})?$/i;

/** Faults that Node accepts although they make the target or the condition of a request ambiguous. */
export const unclear = (request: IncomingMessage): RequestError | undefined => {
  const { headers, rawHeaders, httpVersionMinor } = request;
  const hosts = countOf(rawHeaders, 'host');
  if (hosts > 1) return new RequestError('malformed_request', 'Send the header Host once.');
  if (hosts === 0 ? httpVersionMinor > 0 : !hostShape.test(headers.host ?? '')) {
    return new RequestError(
      'malformed_request',
      'Send the header Host with the name of the service, like "Host: api.shop.example".',
    );
  }
  if (countOf(rawHeaders, 'authorization') > 1) {
    return new RequestError('malformed_request', 'Send the header Authorization once.');
  }
  if (headers.expect === undefined || /^100-continue$/i.test(headers.expect)) return undefined;
  return new RequestError(
    'expectation_failed',
    'The header Expect can only be "100-continue"; leave it out.',
  );
};

/** Node keeps the first of several, and says nothing of the others. */
const countOf = (rawHeaders: readonly string[], wanted: string): number => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === wanted.length && name.toLowerCase() === wanted) count += 1;
  }
  return count;
};
