import { once } from 'node:events';
import { createServer, ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { BrokenRequests, failBody } from './broken-requests.ts';
import { limitConnections } from './connection-share.ts';
import { drain, keepAliveMs } from './drain.ts';
import { RequestError } from '../answers/error-table.ts';
import { oneAtATime, takeWaiting } from '../../../kernel/connections.ts';
import { bareAnswer, type AnswerRefusal } from '../answers/refusal.ts';
import { unclear } from '../answers/unreadable.ts';

/** How long a whole request may take to arrive. */
const usualMs = 30_000;
/** Where files are uploaded. */
const longestMs = 60 * 60_000;

/** Knows the id of its request from the beginning, for the log, and the pattern of its path, for traces. */
export class Response extends ServerResponse {
  requestId: string | undefined;
  route: string | undefined;
}

/** Koa's `callback` makes such a one too. */
export type Handler = (request: IncomingMessage, response: Response) => unknown;

export interface HttpServerOptions {
  /** Whether the request may take long to arrive. */
  readonly isUpload?: (request: IncomingMessage) => boolean;
  /** Answers requests that `handle` never sees. */
  readonly answerRefusal?: AnswerRefusal;
  /** How many connections there may be; see `connectionLimits`. */
  readonly connections?: Parameters<typeof limitConnections>[1];
  /** Monotonic milliseconds, for how long a stop takes. */
  readonly elapsed?: () => number;
}

/** No log, no limits: for tests and measures. */
const justAnswer: AnswerRefusal = (refusal) => Promise.resolve(bareAnswer(refusal));

/** A listening server that can stop without cutting off requests. */
export class HttpServer {
  readonly #server: Server<typeof IncomingMessage, typeof Response>;
  readonly #sockets = new Set<Socket>();
  readonly #elapsed: () => number;
  #accepted = 0;
  #isEnding = false;

  constructor(handle: Handler, options: HttpServerOptions = {}) {
    const { isUpload = () => false, answerRefusal = justAnswer } = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    const broken = new BrokenRequests(answerRefusal);
    const answerNow: Handler = (request, response) => {
      if (this.#isEnding) response.setHeader('Connection', 'close');
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
        ServerResponse: Response,
        optimizeEmptyRequests: true,
        headersTimeout: 10_000,
        requestTimeout: longestMs,
        keepAliveTimeout: keepAliveMs,
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

  /** From now on each answer closes its connection. */
  announceEnd(): void {
    this.#isEnding = true;
  }

  /**
   * Accepts no new connections and lets requests under way finish. Clients that have connected but sent nothing yet, as
   * browsers do in advance, get a moment for their request.
   * @param isReplaced see `RunningRole`: idle connections then stay as long as they would otherwise
   */
  async stop(isReplaced?: AbortSignal): Promise<void> {
    this.announceEnd();
    const [accepted, elapsed] = [() => this.#accepted, () => performance.now()];
    await takeWaiting({ accepted, turn, elapsed });
    const [server, sockets] = [this.#server, this.#sockets];
    await drain({ server, sockets, isReplaced, elapsed: this.#elapsed });
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
