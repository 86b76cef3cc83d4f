import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { BrokenRequests, failBody } from './broken-requests.ts';
import { limitConnections } from './connection-share.ts';
import { RequestError } from './error-table.ts';
import { oneAtATime } from '../../kernel/one-at-a-time.ts';
import { takeWaiting } from '../../kernel/take-waiting.ts';
import { bareAnswer, type AnswerRefusal } from './refusal.ts';
import { unclear } from './unreadable.ts';

/** How long a whole request may take to arrive. */
const usualMs = 30_000;
/** For the first request of a connection, once the server stops. */
const graceMs = 500;
/** Where files are uploaded. */
const longestMs = 60 * 60_000;

/** As Koa's `callback` makes one. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface HttpServerOptions {
  /** Whether such a request may take long to arrive. */
  readonly isUpload?: (request: IncomingMessage) => boolean;
  /** Answers requests that `handle` never sees. */
  readonly answerRefusal?: AnswerRefusal;
  /** How many connections there may be; see `connectionLimits`. */
  readonly connections?: Parameters<typeof limitConnections>[1];
}

/** No log, no limits: for tests and measures. */
const justAnswer: AnswerRefusal = (refusal) => Promise.resolve(bareAnswer(refusal));

/** A listening server that can be stopped without cutting off anybody. */
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
        // Looked at with the other faults of that header, which Node lets through.
        requireHostHeader: false,
      },
      serve,
    );
    // What Node would refuse by itself, in a shape of its own and unseen.
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
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Takes no new connection and lets requests under way finish. Who has connected and sent nothing yet, as browsers do
   * ahead of their next request, has a moment for it.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    const [accepted, elapsed] = [() => this.#accepted, () => performance.now()];
    await takeWaiting({ accepted, turn, elapsed, longestMs: graceMs });
    await new Promise<void>((resolve) => {
      // A kept-alive connection turns idle when its request ends, so look again until all are gone.
      const sweep = setInterval(() => {
        this.#server.closeIdleConnections();
      }, 20);
      // To Node a connection idles after its first request only.
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
 * Who sends a small body a byte at a time holds a connection for half a minute at most; so does who goes on with an
 * upload that was answered already.
 */
const giveUpSlow = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.complete) return;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length === undefined && coding === undefined) return;
  const timer = setTimeout(() => {
    failBody({ request, response }, tooSlow());
  }, usualMs);
  // A request that was answered before all of it came never closes: that keeps no process alive.
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
