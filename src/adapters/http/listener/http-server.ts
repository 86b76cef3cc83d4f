import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { BrokenRequests, failBody, unclear, type AnswerRefusal } from './broken-requests.ts';
import { answerTo, RequestError } from '../error-table.ts';
import { oneAtATime, takeWaiting } from '../../../kernel/incoming.ts';
import { addressBucket } from './client-address.ts';

const usualMs = 30_000;
const longestMs = 60 * 60_000;

/** Knows the request's id from the beginning, for the log, and the pattern of its path, for traces. */
export class Response extends ServerResponse {
  requestId: string | undefined;
  route: string | undefined;
}

/** In bytes. A small piece of a body costs as much as a large one. */
const smallPiece = 100;
const mostSmall = 1000;

/** Ends the connection when a body comes in too many tiny chunks (RFC 9112, section 7.1). */
const Request: typeof IncomingMessage = class extends IncomingMessage {
  #surplus = 0;

  override push(piece: Uint8Array | null): boolean {
    this.#surplus += smallPiece - (piece?.length ?? smallPiece);
    if (this.#surplus > mostSmall * smallPiece) this.socket.destroy();
    return super.push(piece);
  }
};

/** Koa's `callback` also returns such a handler. */
export type Handler = (request: IncomingMessage, response: Response) => unknown;

export interface HttpServerOptions {
  /** Whether the request may take long to arrive. */
  readonly isUpload?: (request: IncomingMessage) => boolean;
  readonly answerRefusal?: AnswerRefusal;
  readonly connections?: Parameters<typeof limitConnections>[1];
  /** Monotonic milliseconds; `stop` measures its time with them. */
  readonly elapsed?: () => number;
}

const justAnswer: AnswerRefusal = ({ error }) => Promise.resolve(answerTo(error));

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
      // Node would discard what remains of the body without passing it to `push`.
      response.once('prefinish', () => request.resume());
      handle(request, response);
    };
    const answer = oneAtATime(answerNow, setImmediate);
    const serve: Handler = (request, response) => {
      broken.note(request, response);
      answer(request, response);
    };
    this.#server = createServer(
      {
        IncomingMessage: Request,
        ServerResponse: Response,
        optimizeEmptyRequests: true,
        headersTimeout: 10_000,
        requestTimeout: longestMs,
        keepAliveTimeout: keepAliveMs,
        connectionsCheckingInterval: 1000,
        // `unclear` checks this header, together with faults that Node accepts.
        requireHostHeader: false,
      },
      serve,
    );
    // Node would send 100 before we know whether we refuse the request (RFC 9110, section 10.1.1).
    this.#server.on('checkContinue', (request, response) => {
      continueWhenRead(request, response);
      serve(request, response);
    });
    // Node would answer these requests in its own format and without a log line.
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

  /** @param port 0 for any free one @returns the actual port */
  async listen(host: string, port: number): Promise<number> {
    await once(this.#server.listen(port, host), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  announceEnd(): void {
    this.#isEnding = true;
  }

  /**
   * Accepts no new connections and lets requests in progress finish. Clients that have connected but sent nothing yet,
   * such as browsers that connect in advance, get a moment for their request.
   * @param isReplaced see `RunningRole`; idle connections then stay as long as usual
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
 * A client that got no 100 may send no body, so the connection ends with the answer. `for await` would wait forever,
 * because it emits no `resume`.
 */
const continueWhenRead = (request: IncomingMessage, response: ServerResponse): void => {
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  request.once('resume', () => {
    if (response.headersSent) return;
    response.shouldKeepAlive = shouldKeepAlive;
    response.writeContinue();
  });
};

/** A client that sends byte by byte holds a connection for at most half a minute. */
const giveUpSlow = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.complete) return;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length === undefined && coding === undefined) return;
  const timer = setTimeout(() => {
    failBody({ request, response }, tooSlow());
  }, usualMs);
  // A request that was answered before it arrived completely never closes. Its timer must not keep the process alive.
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

export const connectionLimits = {
  all: 4000,
  /** Per IPv4 address or IPv6 /64 network. Only without a proxy: behind one, all visitors share its address. */
  ofNetwork: 1500,
} as const;

/** Prevents clients from using up the process's file descriptors. @param ofNetwork undefined behind a proxy */
const limitConnections = (
  server: NetServer,
  { all, ofNetwork }: { readonly all: number; readonly ofNetwork: number | undefined },
): void => {
  server.maxConnections = all;
  if (ofNetwork === undefined) return;
  const open = new Map<string, number>();
  // Registered first, so that other listeners never see refused connections.
  server.prependListener('connection', (socket: Socket) => {
    const network = addressBucket(socket.remoteAddress ?? '');
    const before = open.get(network) ?? 0;
    if (before >= ofNetwork) {
      socket.destroy();
      return;
    }
    open.set(network, before + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  });
};

/** `Keep-Alive` announces it, so that clients do not reuse a connection that was idle for this long. */
const keepAliveMs = 10_000;
/** How long a new connection may take to send its first request after a stop begins. */
const graceMs = 500;
const sweepMs = 20;

interface Terms {
  readonly idleMs: number;
  /** For a connection without a request yet, which Node does not count as idle. */
  readonly silentMs: number;
  /** After this time, requests in progress are cut. */
  readonly longestMs: number;
}

/** Short enough that the rest of the process can stop before its own deadline; see `stopDeadlines`. */
const ending: Terms = { idleMs: 0, silentMs: graceMs, longestMs: 5_000 };
/** Long enough that clients close idle connections themselves: if we did, their next request could fail. */
const replaced: Terms = { idleMs: keepAliveMs, silentMs: keepAliveMs, longestMs: 60_000 };

interface Drained {
  readonly server: NetServer & Pick<Server, 'closeIdleConnections'>;
  readonly sockets: Iterable<Socket>;
  readonly isReplaced: AbortSignal | undefined;
  readonly elapsed: () => number;
}

/** Closes the server, and each connection when its request ends. @returns when all are closed */
const drain = ({ server, sockets, isReplaced, elapsed }: Drained): Promise<void> => {
  let since = elapsed();
  let wasHurried = false;
  const termsNow = (): Terms => {
    if (!isReplaced) return ending;
    if (isReplaced.aborted && !wasHurried) [wasHurried, since] = [true, elapsed()];
    return wasHurried ? ending : replaced;
  };
  // A kept-alive connection becomes idle when its request ends, so repeat until all are closed.
  const look = ({ idleMs, silentMs, longestMs }: Terms, passedMs: number) => {
    const all = [...sockets];
    // Node counts a connection as idle while the end of its answer is still buffered.
    const isSending = all.some((socket) => socket.writableLength > 0);
    if (passedMs >= idleMs && !isSending) server.closeIdleConnections();
    for (const socket of all) {
      const isSilent = socket.bytesRead === 0 && passedMs >= silentMs;
      if (isSilent || passedMs >= longestMs) socket.destroy();
    }
  };
  // Pending input is read first: if timers are late, a connection that seems silent may have sent a request.
  const sweep = setInterval(() => {
    const terms = termsNow();
    setImmediate(look, terms, elapsed() - since);
  }, sweepMs);
  return new Promise((resolve) => {
    // `close` of node:http would also close idle connections.
    NetServer.prototype.close.call(server, () => {
      clearInterval(sweep);
      resolve();
    });
  });
};
