import type { Server } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { takeWaiting } from '../../kernel/take-waiting.ts';
import type { EdgeRequest } from './edge-answer.ts';
import type { EdgeLimits } from './edge-limits.ts';
import type { HeldByNetwork } from './held.ts';
import { Line, type Ticks } from './line.ts';
import { OpenConnections } from './open-connections.ts';
import type { RouteTable } from './route-table.ts';

/** How long requests under way may take when an edge stops. */
const longestDrainMs = 5_000;
/** During that time, new connections and sessions may send their first request. */
const graceMs = 500;
const sweepMs = 20;

export interface ConnectionPorts {
  readonly routes: RouteTable;
  /** The unit of counting: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly networkOf: (address: string) => string;
  readonly held: HeldByNetwork;
  readonly limits: EdgeLimits;
  readonly ticks: Ticks;
}

/** The connections of an edge: how many there may be, which host each is for, and how they end. */
export class EdgeConnections {
  readonly #ports: ConnectionPorts;
  readonly #byAddress = new OpenConnections<Socket>();
  readonly #byHost = new OpenConnections();
  readonly #lines = new Map<Socket, Line>();
  /** Keyed by what a request knows of its connection. */
  readonly #ofRequests = new WeakMap<object, Line>();
  #accepted = 0;
  #onEnd: (line: Line) => void = () => undefined;

  constructor(ports: ConnectionPorts) {
    this.#ports = ports;
    ports.routes.on('removed', (host) => {
      this.#byHost.destroy(host);
    });
  }

  get count(): number {
    return this.#byAddress.count;
  }

  get lines(): Iterable<Line> {
    return { [Symbol.iterator]: () => this.#lines.values() };
  }

  onEnd(listener: (line: Line) => void): void {
    this.#onEnd = listener;
  }

  /** @returns undefined when it ended already */
  lineOf({ stream, socket }: EdgeRequest): Line | undefined {
    return this.#ofRequests.get(stream?.session ?? socket);
  }

  watch(server: Server | Http2SecureServer): void {
    server.prependListener('connection', (socket: Socket) => {
      this.#accepted += 1;
      this.#admit(socket);
    });
  }

  watchSecure(server: Http2SecureServer): void {
    this.watch(server);
    server.on('secureConnection', (socket: TLSSocket) => {
      const { servername } = socket;
      const name = typeof servername === 'string' ? servername.toLowerCase() : '';
      socket.servername = name;
      const line = this.#lineBelow(socket);
      // The host may have been removed during the handshake.
      if (!line || !this.#ports.routes.find(name)) {
        socket.destroy();
        return;
      }
      this.#byHost.add(name, socket);
      this.#ofRequests.set(socket, line);
    });
    server.on('session', (session) => {
      const line = this.#lineBelow(session.socket);
      if (line) this.#took(line, session);
    });
  }

  /** The connection below TLS that a peer has. */
  from({ remoteAddress = '', remotePort }: Socket): Socket | undefined {
    return this.#byAddress.of(remoteAddress).find((socket) => socket.remotePort === remotePort);
  }

  /** Closes the servers. Requests under way get their answers, within a time limit; idle connections are closed. */
  async drain(servers: readonly (Server | Http2SecureServer)[]): Promise<void> {
    const deadline = setTimeout(() => {
      this.#byAddress.destroyAll();
    }, longestDrainMs);
    const [accepted, elapsed] = [() => this.#accepted, () => performance.now()];
    await takeWaiting({ accepted, turn, elapsed, longestMs: graceMs });
    const since = performance.now();
    const sweep = setInterval(() => {
      if (performance.now() - since >= graceMs) this.#letGo(servers);
    }, sweepMs);
    await Promise.all(servers.map(closed));
    clearInterval(sweep);
    clearTimeout(deadline);
  }

  #letGo(servers: readonly (Server | Http2SecureServer)[]): void {
    for (const { session } of this.#lines.values()) session?.close();
    for (const server of servers) (server as Server).closeIdleConnections();
    // Node counts a connection as idle only after its first request, but browsers open some in advance.
    this.#byAddress.destroyUnused();
    this.#byHost.destroyUnused();
  }

  /** Ends the connection when its network has too many already. */
  #admit(socket: Socket): void {
    const { networkOf, held, limits, ticks } = this.#ports;
    const { remoteAddress: address = '' } = socket;
    const network = networkOf(address);
    if (held.connectionsOf(network) >= limits.connectionsOfNetwork) {
      socket.destroy();
      return;
    }
    this.#byAddress.add(address, socket);
    const line = new Line(socket, held.joined(network), ticks);
    this.#lines.set(socket, line);
    socket.once('close', () => {
      this.#lines.delete(socket);
      held.left(network);
      this.#onEnd(line);
    });
  }

  #took(line: Line, session: ServerHttp2Session): void {
    line.session = session;
    this.#ofRequests.set(session, line);
    const count = () => {
      line.countIdleFrame(this.#ports.limits.idleFrames);
    };
    session.on('ping', count).on('remoteSettings', count);
  }

  #lineBelow(socket: Socket): Line | undefined {
    const below = this.from(socket);
    return below && this.#lines.get(below);
  }
}

/** An error only says that it was not open. */
const closed = (server: Server | Http2SecureServer): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
