import type { Server } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ConnectionLimit } from './connection-limit.ts';
import { OpenConnections } from './open-connections.ts';
import type { RouteTable } from './route-table.ts';

/** How long requests under way may take when an edge stops. */
const longestDrainMs = 5_000;
const sweepMs = 20;

/** The connections of an edge: how many there may be, which host each is for, and how they end. */
export class EdgeConnections {
  readonly #routes: RouteTable;
  readonly #limit: ConnectionLimit;
  readonly #byAddress = new OpenConnections<Socket>();
  readonly #byHost = new OpenConnections();
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(routes: RouteTable, mostPerAddress: number | undefined) {
    this.#routes = routes;
    this.#limit = new ConnectionLimit(this.#byAddress, mostPerAddress);
    routes.onRemoved((host) => {
      this.#byHost.destroy(host);
    });
  }

  get count(): number {
    return this.#byAddress.count;
  }

  watch(server: Server | Http2SecureServer): void {
    server.prependListener('connection', (socket: Socket) => {
      this.#limit.admit(socket);
    });
  }

  watchSecure(server: Http2SecureServer): void {
    this.watch(server);
    server.on('secureConnection', (socket: TLSSocket) => {
      const { servername } = socket;
      const name = typeof servername === 'string' ? servername.toLowerCase() : '';
      socket.servername = name;
      // It may have been removed while the handshake went on.
      if (this.#routes.find(name)) this.#byHost.add(name, socket);
      else socket.destroy();
    });
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
    });
  }

  /** The connection below TLS that a peer has. */
  from({ remoteAddress = '', remotePort }: Socket): Socket | undefined {
    return this.#byAddress.of(remoteAddress).find((socket) => socket.remotePort === remotePort);
  }

  /** Closes the servers. Who waits for an answer gets it, unless that takes too long; all others are let go. */
  async drain(servers: readonly (Server | Http2SecureServer)[]): Promise<void> {
    const deadline = setTimeout(() => {
      this.#byAddress.destroyAll();
    }, longestDrainMs);
    const sweep = setInterval(() => {
      for (const session of this.#sessions) if (!session.closed) session.close();
      for (const server of servers) (server as Server).closeIdleConnections();
      // To Node a connection is idle after its first request only, and browsers open some in advance.
      this.#byAddress.destroyUnused();
      this.#byHost.destroyUnused();
    }, sweepMs);
    await Promise.all(servers.map(closed));
    clearInterval(sweep);
    clearTimeout(deadline);
  }
}

/** An error only says that it was not open. */
const closed = (server: Server | Http2SecureServer): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
