import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { contentOf, jsonType, send, type Answer } from '../answer.ts';
import { RequestError } from '../error-table.ts';
import { firstLineOf, unreadable, type ParserError } from './unreadable.ts';

/** A request that no application sees: it is unreadable or contradictory. */
export interface Refusal {
  readonly error: RequestError;
  /** Address of the other side. */
  readonly peer: string;
  /** Undefined if it could not be read. */
  readonly method: string | undefined;
  readonly path: string | undefined;
  /** What Node calls it, for the log. */
  readonly reason: string;
}

/** Builds the answer with all its headers, and records it like other answers. Never rejects. */
export type AnswerRefusal = (refusal: Refusal) => Promise<Answer>;

interface Sent {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Time limit for answering a request that broke off. */
const longestAnswerMs = 10_000;
/** How long the client may continue before the connection is closed; closing it at once would lose the answer. */
const lingerMs = 1000;

/** Answers requests that Node refuses by itself, on the connections of one server. */
export class BrokenRequests {
  readonly #answer: AnswerRefusal;
  /** The latest request on each connection. */
  readonly #latest = new WeakMap<Socket, Sent>();
  readonly #broken = new WeakSet<Socket>();

  constructor(answer: AnswerRefusal) {
    this.#answer = answer;
  }

  /** Called for every request. */
  note(request: IncomingMessage, response: ServerResponse): void {
    this.#latest.set(request.socket, { request, response });
  }

  /** Refuses a readable request before any application sees it. */
  refuse({ request, response }: Sent, error: RequestError): void {
    const { method, url } = request;
    const seen = { method, path: url?.split('?', 1)[0], reason: error.code };
    void this.#answer({ error, peer: peerOf(request.socket), ...seen }).then((answer) => {
      // The body stays unread, so the connection ends with the answer.
      send(response, ['Connection', 'close'], answer);
    });
  }

  /** CONNECT: Node hands over the bare connection. */
  refuseTunnel({ socket, url }: IncomingMessage): void {
    const message =
      'This is not a proxy: CONNECT is not supported. Request a path with GET or POST.';
    const error = new RequestError('method_not_allowed', message, {
      Allow: 'GET, HEAD, POST, OPTIONS',
    });
    this.#write(socket, { error, method: 'CONNECT', path: url, reason: error.code });
  }

  /** For 'clientError'. */
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

/**
 * Makes the application's read of the body fail, so that it answers as for any faulty body. If it has answered already,
 * or does not answer in time, the connection just ends.
 */
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

/** Writes an answer directly to a socket that has no response object, and ends the connection. */
const writeAnswer = (socket: Duplex, { status, headers, body }: Answer, method?: string): void => {
  const content = String(contentOf(body));
  const all = {
    'Content-Type': jsonType,
    ...headers,
    'Content-Length': String(Buffer.byteLength(content)),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`, ...lines].join('\r\n');
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
  socket.end(`${head}\r\n\r\n${method === 'HEAD' ? '' : content}`);
  socket.resume();
};

const peerOf = ({ remoteAddress = '' }: Socket): string => remoteAddress;
