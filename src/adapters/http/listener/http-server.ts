import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { BrokenRequests, failBody } from './broken-requests.ts';
import { limitConnections } from './connection-share.ts';
import { RequestError } from '../answers/error-table.ts';
import { oneAtATime } from '../../../kernel/one-at-a-time.ts';
import { takeWaiting } from '../../../kernel/take-waiting.ts';
import { bareAnswer, type AnswerRefusal } from '../answers/refusal.ts';
import { unclear } from '../answers/unreadable.ts';

/** How long a whole request may take to arrive. */
const usualMs = 30_000;
/** After a stop begins, how long a new connection may take to send its first request. */
const graceMs = 500;
/** Where files are uploaded. */
const longestMs = 60 * 60_000;

/** As Koa's `callback` makes one. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface HttpServerOptions {
  /** Whether the request may take long to arrive. */
  readonly isUpload?: (request: IncomingMessage) => boolean;
  /** Answers requests that `handle` never sees. */
  readonly answerRefusal?: AnswerRefusal;
  /** How many connections there may be; see `connectionLimits`. */
  readonly connections?: Parameters<typeof limitConnections>[1];
}

/** No log, no limits: for tests and measures. */
const justAnswer: AnswerRefusal = (refusal) => Promise.resolve(bareAnswer(refusal));

/** A listening server that can stop without cutting off requests. */
export class HttpServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #accepted = 0;
  #stopping = false;

  constructor(handle: Handler, options: HttpServerOptions = {}) {
    const { isUpload = () => false, answerRefusal = justAnswer } = options;
    const broken = new BrokenRequests(answerRefusal);
    const answerNow: Handler = (request, response) => {
      if (this.#stopping) response.setHeader('Connection', 'close');
      const error = unclear(request);
      if (error) {
        broken.refuse({ request, response }, error);
        return;
      }
      const limit = () => {
        giveUpSlow(request, response);
      };
      if (isUpload(request)) response.once('finish', limit);
      else limit();
      handle(request, response);
    };
    const answer = oneAtATime(answerNow, setImmediate);
    const serve: Handler = (request, response) => {
      broken.note(request, response);
      answer(request, response);
    };
    this.#server = createServer(
      {
        optimizeEmptyRequests: true,
        headersTimeout: 10_000,
        requestTimeout: longestMs,
        keepAliveTimeout: 10_000,
        connectionsCheckingInterval: 1000,
        // Checked together with other faults of that header that Node accepts.
        requireHostHeader: false,
      },
      serve,
    );
    // Requests that Node would refuse by itself, in its own format and without a log line.
    this.#server.on('checkExpectation', serve);
    this.#server.on('connect', (request) => {
      broken.refuseTunnel(request);
    });
    this.#server.on('clientError', (error, socket) => {
      broken.handle(error, socket);
    });
    if (options.connections) limitConnections(this.#server, options.connections);
    this.#server.on('connection', (socket) => {
      this.#accepted += 1;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** @param port 0 for any free one @returns the port it listens on */
  async listen(host: string, port: number): Promise<number> {
    await once(this.#server.listen(port, host), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Accepts no new connections and lets requests under way finish. Clients that have connected but sent nothing yet, as
   * browsers do in advance, get a moment for their request.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    const [accepted, elapsed] = [() => this.#accepted, () => performance.now()];
    await takeWaiting({ accepted, turn, elapsed, longestMs: graceMs });
    await new Promise<void>((resolve) => {
      // A kept-alive connection becomes idle when its request ends, so repeat until all are closed.
      const sweep = setInterval(() => {
        this.#server.closeIdleConnections();
      }, 20);
      // Node counts a connection as idle only after its first request.
      const grace = setTimeout(() => {
        for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
      }, graceMs);
      this.#server.close(() => {
        clearInterval(sweep);
        clearTimeout(grace);
        resolve();
      });
    });
  }
}

/**
 * A client that sends a small body byte by byte, or continues an upload that was answered already, holds a connection
 * for at most half a minute.
 */
const giveUpSlow = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.complete) return;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length === undefined && coding === undefined) return;
  const timer = setTimeout(() => {
    failBody({ request, response }, tooSlow());
  }, usualMs);
  // A request that was answered before it arrived completely never closes; it must not keep the process alive.
  timer.unref();
  request.once('close', () => {
    clearTimeout(timer);
  });
};

const tooSlow = () =>
  new RequestError(
    'request_timeout',
    `The body did not arrive within ${String(usualMs / 1000)} seconds. Send the request again.`,
  );
