import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { oneAtATime } from '../../kernel/incoming.ts';
import type { Tracer } from '../../kernel/tracer.ts';
import { Answers } from './answers.ts';
import { SecureContexts, serverNames, tlsOptions } from './secure-contexts.ts';
import { EdgeConnections, type Ticks, type EdgeConnection } from './edge-connections.ts';
import {
  plainHandler,
  secureHandler,
  tracedVisits,
  type EdgeHandler,
  type EdgePorts,
} from './edge-handler.ts';
import { announceEnd, closeAfterwards, drainEdge } from './drain-edge.ts';
import {
  edgeLimits,
  keepAliveMs,
  NetworkUsages,
  visitorTimes,
  type EdgeLimits,
} from './edge-limits.ts';
import type { EdgeRequest, EdgeResponse } from './edge-answer.ts';

const http1 = {
  headersTimeout: visitorTimes.headersMs,
  requestTimeout: visitorTimes.requestMs,
  keepAliveTimeout: keepAliveMs,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
  /** Avoids the events of an empty request body. Older Node versions ignore this option. */
  optimizeEmptyRequests: true,
};
const lookMs = 1_000;

interface EdgeAddresses {
  readonly host: string;
  readonly httpPort: number;
  readonly httpsPort: number;
}

export interface EdgeSettings {
  readonly limits?: Partial<EdgeLimits>;
  readonly now?: () => number;
  readonly onRequest?: (request: Pick<IncomingMessage, 'method' | 'url'>) => void;
  readonly tracer?: Tracer | undefined;
  readonly plainPreviews?: boolean;
}

export class EdgeServer {
  readonly #plain: Server;
  readonly #secure: Http2SecureServer;
  readonly #routes: EdgePorts['routes'];
  readonly #connections: EdgeConnections;
  readonly #ports = { http: 0, https: 0 };
  readonly #usages = new NetworkUsages();
  readonly #answers: Answers;
  readonly #limits: EdgeLimits;
  readonly #ticks: Ticks;
  readonly #now: () => number;
  #looking: NodeJS.Timeout | undefined;
  #refusedHandshakes = 0;

  constructor(
    ports: EdgePorts,
    { limits: others, now, onRequest, tracer, plainPreviews = false }: EdgeSettings = {},
  ) {
    const limits = (this.#limits = { ...edgeLimits, ...others });
    this.#now = now ?? (() => performance.now());
    const [usages, ticks] = [this.#usages, { now: this.#now() }];
    this.#ticks = ticks;
    this.#routes = ports.routes;
    const { routes, networkOf } = ports;
    this.#connections = new EdgeConnections({ routes, networkOf, usages, limits, ticks });
    this.#answers = new Answers(usages, this.#connections, { ticks, limits });
    this.#connections.onEnd((connection) => {
      this.#answers.endAll(connection);
    });
    const traced = (scheme: 'http' | 'https', handle: EdgeHandler): EdgeHandler =>
      tracer ? tracedVisits(tracer, scheme, handle) : handle;
    const terms = { answers: this.#answers, listens: this.#ports, previews: plainPreviews };
    const answerPlain = oneAtATime(traced('http', plainHandler(ports, terms)), setImmediate);
    this.#plain = createServer(http1, (request, response) => {
      onRequest?.(request);
      answerPlain(request, response);
    });
    const answer = traced('https', secureHandler(ports, this.#answers));
    this.#secure = createSecureServer(
      {
        ...http1,
        ...tlsOptions,
        allowHTTP1: true,
        handshakeTimeout: visitorTimes.handshakeMs,
        settings: {
          maxHeaderListSize: http1.maxHeaderSize,
          maxConcurrentStreams: limits.answersOfConnection,
        },
        SNICallback: serverNames({
          routes,
          certificates: new SecureContexts(routes, ports.log),
          connections: this.#connections,
        }),
      },
      (request, response) => {
        onRequest?.(request);
        answer(request as unknown as EdgeRequest, response as unknown as EdgeResponse);
      },
    );
    for (const server of [this.#plain, this.#secure]) {
      server.maxConnections = limits.connections;
      server.setTimeout(visitorTimes.silenceMs);
      // We never answer 100, because we read no bodies. A client that waits for it may send none, so its connection ends.
      server.on('checkContinue', (...visit: Parameters<typeof closeAfterwards>) => {
        closeAfterwards(...visit);
        server.emit('request', ...visit);
      });
    }
    this.#connections.watch(this.#plain, this.#secure);
    // The client sent invalid TLS or an unknown name; Node has already disconnected it.
    this.#secure.on('tlsClientError', () => (this.#refusedHandshakes += 1));
  }

  state() {
    return {
      hosts: this.#routes.size,
      connections: this.#connections.count,
      answers: this.#usages.all.answers,
      heldBytes: this.#usages.all.bytes,
      requests: this.#answers.requests,
      refusedHandshakes: this.#refusedHandshakes,
      refusedRequests: this.#answers.refused,
      failedRequests: this.#answers.failed,
      stalled: this.#answers.stalled,
    };
  }

  look(): void {
    this.#ticks.now = this.#now();
    const terms = { answers: this.#answers, limits: this.#limits, ticks: this.#ticks };
    for (const connection of this.#connections.all) endStalled(connection, terms);
  }

  async listen({
    host,
    httpPort,
    httpsPort,
  }: EdgeAddresses): Promise<{ readonly http: number; readonly https: number }> {
    await this.#routes.start();
    try {
      await once(this.#plain.listen(httpPort, host), 'listening');
      await once(this.#secure.listen(httpsPort, host), 'listening');
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#looking = setInterval(() => {
      this.look();
    }, lookMs);
    this.#ports.http = portOf(this.#plain);
    this.#ports.https = portOf(this.#secure);
    return this.#ports;
  }

  announceEnd(): void {
    announceEnd([this.#plain, this.#secure]);
  }

  /** Accepts no new connections and cuts long downloads. @param isReplaced see `DrainedEdge` */
  async stop(isReplaced?: AbortSignal): Promise<void> {
    this.announceEnd();
    await drainEdge({
      servers: [this.#plain, this.#secure],
      connections: this.#connections.all,
      accepted: () => this.#connections.accepted,
      elapsed: this.#now,
      isReplaced,
    });
    clearInterval(this.#looking);
    this.#routes.stop();
  }
}

const portOf = (server: NetServer): number => (server.address() as AddressInfo | null)?.port ?? 0;

interface Terms {
  readonly answers: Pick<Answers, 'cut' | 'stalled'>;
  readonly limits: EdgeLimits;
  readonly ticks: Ticks;
}

const endStalled = (connection: EdgeConnection, terms: Terms): void => {
  const { answers, limits, ticks } = terms;
  connection.look();
  if (connection.isFull && ticks.now - connection.movedAt >= limits.stalledAnswerMs) {
    answers.stalled += 1;
    connection.socket.destroy();
  } else if (connection.session) endStalledStreams(connection, terms);
};

const endStalledStreams = (
  connection: EdgeConnection,
  { answers, limits, ticks: { now } }: Terms,
): void => {
  for (const answer of connection.answers) {
    const { stalledSince } = answer;
    const hasStalled = stalledSince !== undefined && now - stalledSince >= limits.stalledAnswerMs;
    if (hasStalled) answers.cut(connection, answer);
  }
  const idleMs = now - Math.max(connection.progressAt, connection.fullAt);
  if (idleMs >= limits.idleSessionMs + limits.endingSessionMs) connection.session?.destroy();
  else if (idleMs >= limits.idleSessionMs) connection.session?.close();
};
