import { createServer, type Server } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { CertificateShelf } from './certificate-shelf.ts';
import { EdgeConnections } from './edge-connections.ts';
import { plainHandler, secureHandler, type EdgePorts } from './edge-handler.ts';
import { serverNames } from './server-names.ts';
import { tlsOptions } from './tls-options.ts';

/** What a slow or silent client may cost; see docs/operations.md. */
const limits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
};
const handshakeTimeoutMs = 10_000;
const silenceMs = 60_000;
const mostConnections = 20_000;

export interface EdgeAddresses {
  readonly host: string;
  /** 0 for any free one. */
  readonly httpPort: number;
  readonly httpsPort: number;
}

/** Serves published sites: HTTP/1.1 and HTTP/2 over TLS, and the way there from plain HTTP. */
export class EdgeServer {
  readonly #plain: Server;
  readonly #secure: Http2SecureServer;
  readonly #routes: EdgePorts['routes'];
  readonly #connections: EdgeConnections;
  readonly #ports = { http: 0, https: 0 };
  #requests = 0;
  #refusedHandshakes = 0;

  /** @param mostPerAddress connections that one client may have */
  constructor(ports: EdgePorts, mostPerAddress?: number) {
    this.#routes = ports.routes;
    this.#connections = new EdgeConnections(ports.routes, mostPerAddress);
    this.#plain = createServer(limits, plainHandler(ports, this.#ports));
    this.#secure = createSecureServer(
      {
        ...limits,
        ...tlsOptions,
        allowHTTP1: true,
        handshakeTimeout: handshakeTimeoutMs,
        // All streams of a session may have a content of the shelf waiting; beyond that Node refuses streams.
        maxSessionMemory: 64,
        settings: { maxHeaderListSize: limits.maxHeaderSize, maxConcurrentStreams: 100 },
        SNICallback: serverNames(new CertificateShelf(ports.routes, ports.log), this.#connections),
      },
      // The compatibility layer of HTTP/2 offers what of HTTP/1.1 is used.
      secureHandler(ports) as never,
    );
    for (const server of [this.#plain, this.#secure]) {
      server.on('request', () => (this.#requests += 1));
      server.maxConnections = mostConnections;
      server.setTimeout(silenceMs);
    }
    this.#connections.watch(this.#plain);
    this.#connections.watchSecure(this.#secure);
    // Whoever sends nonsense instead of TLS, or asks for a name that is not served, is gone already.
    this.#secure.on('tlsClientError', () => (this.#refusedHandshakes += 1));
  }

  /** What there is to count, for metrics. */
  state() {
    return {
      hosts: this.#routes.size,
      connections: this.#connections.count,
      requests: this.#requests,
      refusedHandshakes: this.#refusedHandshakes,
    };
  }

  async listen({
    host,
    httpPort,
    httpsPort,
  }: EdgeAddresses): Promise<{ readonly http: number; readonly https: number }> {
    await this.#routes.start();
    try {
      await listening(this.#plain, host, httpPort);
      await listening(this.#secure, host, httpsPort);
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#ports.http = portOf(this.#plain);
    this.#ports.https = portOf(this.#secure);
    return this.#ports;
  }

  /** Takes no new connection and finishes the requests under way; downloads that take longer are cut. */
  async stop(): Promise<void> {
    await this.#connections.drain([this.#plain, this.#secure]);
    this.#routes.stop();
  }
}

const listening = (server: NetServer, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

const portOf = (server: NetServer): number => (server.address() as AddressInfo | null)?.port ?? 0;
