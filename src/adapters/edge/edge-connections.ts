import type { Server } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { drainEdge } from './drain-edge.ts';
import type { EdgeRequest } from './edge-answer.ts';
import type { EdgeLimits } from './edge-limits.ts';
import type { HeldByNetwork } from './held.ts';
import { Line, type Ticks } from './line.ts';
import { OpenConnections } from './open-connections.ts';
import type { RouteTable } from './route-table.ts';

export interface ConnectionPorts {
  readonly routes: RouteTable;
  /** The unit of counting: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly networkOf: (address: string) => string;
  readonly held: HeldByNetwork;
  readonly limits: EdgeLimits;
  readonly ticks: Ticks;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
}

/** The connections of an edge: how many there may be, which host each is for, and how they end. */
export class EdgeConnections {
  readonly #ports: ConnectionPorts;
  readonly #lines = new OpenConnections<Line>();
  /** By the socket of the connection, the one over TLS, and the session of HTTP/2. */
  readonly #lineOf = new WeakMap<object, Line>();
  #accepted = 0;
  #onEnd: (line: Line) => void = () => undefined;

  constructor(ports: ConnectionPorts) {
    this.#ports = ports;
    ports.routes.on('removed', (name) => {
      this.#end(name, () => true);
    });
    // Whoever has not asked for anything yet, such as in a handshake, gets the site of the next project.
    ports.routes.on('moved', (name) => {
      this.#end(name, ({ isUsed }) => isUsed);
    });
  }

  get count(): number {
    return this.#lines.count;
  }

  get lines(): Iterable<Line> {
    return this.#lines;
  }

  onEnd(listener: (line: Line) => void): void {
    this.#onEnd = listener;
  }

  /** @returns undefined when it ended already */
  lineOf({ stream, socket }: EdgeRequest): Line | undefined {
    return this.#lineOf.get(stream?.session ?? socket);
  }

  watch(plain: Server, secure: Http2SecureServer): void {
    for (const server of [plain, secure]) {
      server.prependListener('connection', (socket: Socket) => {
        this.#admit(socket);
      });
    }
    secure.on('secureConnection', (socket: TLSSocket) => {
      const { servername } = socket;
      const name = typeof servername === 'string' ? servername.toLowerCase() : '';
      const line = this.below(socket);
      const servedAs = this.#ports.routes.nameFor(name);
      // The host may have been removed during the handshake, or got a name and certificate of its own.
      if (!line || servedAs === undefined || servedAs !== line.servedAs) {
        socket.destroy();
        return;
      }
      line.secure = socket;
      line.host = name;
      this.#lineOf.set(socket, line);
    });
    secure.on('session', (session) => {
      const line = this.below(session.socket);
      if (line) this.#took(line, session);
    });
  }

  /**
   * The connection below TLS, by an undocumented property. Without it, the connection is looked for among all.
   * @returns undefined when it ended already
   */
  below(socket: Socket & { readonly _parent?: Socket }): Line | undefined {
    const { _parent: parent } = socket;
    if (parent) return this.#lineOf.get(parent);
    const peer = peerOf(socket);
    return [...this.#lines].find((line) => peerOf(line.socket) === peer);
  }

  /** Closes the servers and all connections. @param isReplaced see `drainEdge` */
  drain(
    servers: readonly (Server | Http2SecureServer)[],
    isReplaced: AbortSignal | undefined,
  ): Promise<void> {
    const { elapsed } = this.#ports;
    const accepted = () => this.#accepted;
    return drainEdge({ servers, lines: this.#lines, accepted, elapsed, isReplaced });
  }

  #end(name: string, isMeant: (line: Line) => boolean): void {
    for (const line of this.#lines) {
      if ((line.host === name || line.servedAs === name) && isMeant(line)) line.socket.destroy();
    }
  }

  /** Ends the connection when its network has too many already. */
  #admit(socket: Socket): void {
    this.#accepted += 1;
    const { networkOf, held, limits, ticks } = this.#ports;
    const network = networkOf(socket.remoteAddress ?? '');
    if (held.connectionsOf(network) >= limits.connectionsOfNetwork) {
      socket.destroy();
      return;
    }
    const line = new Line(socket, held.joined(network), ticks);
    this.#lines.add(line);
    this.#lineOf.set(socket, line);
    socket.on('close', () => {
      this.#lines.remove(line);
      held.left(network);
      this.#onEnd(line);
    });
  }

  #took(line: Line, session: ServerHttp2Session): void {
    line.session = session;
    this.#lineOf.set(session, line);
    const count = () => {
      line.countIdleFrame(this.#ports.limits.idleFrames);
    };
    session.on('ping', count).on('remoteSettings', count);
  }
}

const peerOf = ({ remoteAddress = '', remotePort = 0, localPort = 0 }: Socket): string =>
  `${remoteAddress} ${String(remotePort)} ${String(localPort)}`;
