import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { timesSent } from '../../../kernel/incoming.ts';
import type { Answer } from '../answer.ts';
import { send, writeAnswer } from '../send-answer.ts';
import { RequestError, type ErrorCode } from '../error-table.ts';

/** A request that no application sees, because it is unreadable or contradictory. */
export interface Refusal {
  readonly error: RequestError;
  readonly peer: string;
  readonly method: string | undefined;
  readonly path: string | undefined;
  /** Node's error code or name of the fault, for the log. */
  readonly reason: string;
}

export type AnswerRefusal = (refusal: Refusal) => Promise<Answer>;

interface Sent {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const longestAnswerMs = 10_000;

/** Answers the requests of one server that Node refuses without calling the application. */
export class BrokenRequests {
  readonly #answer: AnswerRefusal;
  readonly #latest = new WeakMap<Socket, Sent>();
  readonly #broken = new WeakSet<Socket>();

  constructor(answer: AnswerRefusal) {
    this.#answer = answer;
  }

  note(request: IncomingMessage, response: ServerResponse): void {
    this.#latest.set(request.socket, { request, response });
  }

  refuse({ request, response }: Sent, error: RequestError): void {
    const { method, url } = request;
    const seen = { method, path: url?.split('?', 1)[0], reason: error.code };
    void this.#answer({ error, peer: peerOf(request.socket), ...seen }).then((answer) => {
      // The body stays unread, so the connection ends with the answer.
      send(response, ['Connection', 'close'], answer);
    });
  }

  /** Refuses CONNECT, for which Node hands over the bare connection. */
  refuseTunnel({ socket, url }: IncomingMessage): void {
    const message =
      'This is not a proxy: CONNECT is not supported. Request a path with GET or POST.';
    const error = new RequestError('method_not_allowed', message, {
      Allow: 'GET, HEAD, POST, OPTIONS',
    });
    this.#write(socket, { error, method: 'CONNECT', path: url, reason: error.code });
  }

  handle(failure: ParserError, socket: Duplex): void {
    const error = unreadable(failure);
    // A client that sent nothing, like a browser that connects in advance, needs no answer.
    if (!error || !(socket instanceof Socket) || !socket.writable || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    // Bytes after the fault cannot be parsed either.
    if (this.#broken.has(socket)) return;
    this.#broken.add(socket);
    const latest = this.#latest.get(socket);
    const { method, path } = firstLineOf(failure);
    const write = () => {
      this.#write(socket, { error, method, path, reason: failure.code ?? failure.name });
    };
    if (!latest || latest.response.closed) write();
    else if (latest.request.complete) latest.response.once('close', write);
    else failBody(latest, error);
  }

  #write(socket: Socket, refusal: Omit<Refusal, 'peer'>): void {
    void this.#answer({ ...refusal, peer: peerOf(socket) }).then((answer) => {
      if (socket.writable) writeAnswer(socket, answer, refusal.method);
    });
  }
}

/** Makes the application's read of the body fail. Ends the connection if it has answered or answers too late. */
export const failBody = ({ request, response }: Sent, error: RequestError): void => {
  if (response.headersSent) {
    request.destroy();
    return;
  }
  response.setHeader('Connection', 'close');
  const tell = () => {
    if (request.listenerCount('error') > 0) request.emit('error', error);
  };
  // Readers that start later must fail too.
  request.on('newListener', (name) => {
    if (name === 'error') setImmediate(tell);
  });
  tell();
  const timer = setTimeout(() => request.socket.destroy(), longestAnswerMs);
  timer.unref();
  response.once('close', () => {
    clearTimeout(timer);
  });
};

const peerOf = ({ remoteAddress = '' }: Socket): string => remoteAddress;

export type ParserError = Error & { readonly code?: string; readonly rawPacket?: Buffer };

const malformed = 'The request is not valid HTTP/1.1';

/** Parser errors that have their own answer. */
const faults: Readonly<Record<string, { readonly code: ErrorCode; readonly message: string }>> = {
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

/** @returns undefined if the connection broke, because no client is left to answer */
const unreadable = ({ code = '' }: ParserError): RequestError | undefined => {
  const known = faults[code];
  if (known) return new RequestError(known.code, known.message);
  if (!code.startsWith('HPE_')) return undefined;
  const detail = code.slice('HPE_'.length).toLowerCase().replaceAll('_', ' ');
  return new RequestError('malformed_request', `${malformed} (${detail}).`);
};

export const firstLineOf = ({
  rawPacket,
}: ParserError): { readonly method?: string; readonly path?: string } => {
  const start = rawPacket?.toString('latin1', 0, 2048) ?? '';
  const [, method, path] = /^([A-Z]{1,20}) ([^ \r\n]{1,2000})/.exec(start) ?? [];
  return { ...(method && { method }), ...(path && { path: path.split('?', 1)[0] ?? '' }) };
};

const hostShape = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(?::\d{1,5})?$/i;

/** Finds faults that Node accepts although they make a request's target or condition ambiguous. */
export const unclear = (request: IncomingMessage): RequestError | undefined => {
  const { headers, rawHeaders, httpVersionMinor } = request;
  const hosts = timesSent(rawHeaders, 'host');
  if (hosts > 1) return new RequestError('malformed_request', 'Send the header Host once.');
  if (hosts === 0 ? httpVersionMinor > 0 : !hostShape.test(headers.host ?? '')) {
    return new RequestError(
      'malformed_request',
      'Send the header Host with the name of the service, like "Host: api.shop.example".',
    );
  }
  if (timesSent(rawHeaders, 'authorization') > 1) {
    return new RequestError('malformed_request', 'Send the header Authorization once.');
  }
  if (isUnsureOfEnd(request)) {
    return new RequestError(
      'malformed_request',
      'Send Content-Length, or over HTTP/1.1 the header "Transfer-Encoding: chunked".',
    );
  }
  if (headers.expect === undefined || /^100-continue$/i.test(headers.expect)) return undefined;
  return new RequestError('expectation_failed');
};

/** Whether another server may find another end of the body. Node accepts each of these (RFC 9112, section 6.1). */
const isUnsureOfEnd = ({ headers, httpVersionMinor }: IncomingMessage): boolean => {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return false;
  return httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked';
};
