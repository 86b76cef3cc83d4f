import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError } from '../answers/error-table.ts';
import { sendAnswer, writeAnswer, type AnswerRefusal, type Refusal } from '../answers/refusal.ts';
import { firstLineOf, unreadable, type ParserError } from '../answers/unreadable.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Time limit for answering a request that broke off. */
const longestAnswerMs = 10_000;

/** Answers requests that Node refuses by itself, on the connections of one server. */
export class BrokenRequests {
  readonly #answer: AnswerRefusal;
  /** The latest request on each connection. */
  readonly #latest = new WeakMap<Socket, Exchange>();
  readonly #broken = new WeakSet<Socket>();

  constructor(answer: AnswerRefusal) {
    this.#answer = answer;
  }

  /** Called for every request. */
  note(request: IncomingMessage, response: ServerResponse): void {
    this.#latest.set(request.socket, { request, response });
  }

  /** Refuses a readable request before any application sees it. */
  refuse({ request, response }: Exchange, error: RequestError): void {
    const { method, url } = request;
    const seen = { method, path: url?.split('?', 1)[0], reason: error.code };
    void this.#answer({ error, peer: peerOf(request.socket), ...seen }).then((answer) => {
      sendAnswer(response, answer);
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
export const failBody = ({ request, response }: Exchange, error: RequestError): void => {
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
