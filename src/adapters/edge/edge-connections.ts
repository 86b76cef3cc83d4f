import type { Server } from 'node:http';
import { constants, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { EdgeLimits, NetworkUsage, NetworkUsages } from './edge-limits.ts';
import type { RouteTable } from './route-table.ts';
import type { EdgeRequest } from './edge-answer.ts';

interface ConnectionPorts {
  readonly routes: RouteTable;
  /** The unit of counting: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly networkOf: (address: string) => string;
  readonly usages: NetworkUsages;
  readonly limits: EdgeLimits;
  readonly ticks: Ticks;
}

/** The connections of an edge: how many there may be, which host each is for, and how they end. */
export class EdgeConnections {
  readonly #ports: ConnectionPorts;
  /** By their addresses: a socket over TLS has those of the socket below. */
  readonly #open = new Map<string, EdgeConnection>();
  /** By the socket over TLS, or the session of HTTP/2. */
  readonly #secure = new WeakMap<object, EdgeConnection>();
  #accepted = 0;
  #onEnd: (connection: EdgeConnection) => void = () => undefined;

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
    return this.#open.size;
  }

  get accepted(): number {
    return this.#accepted;
  }

  get all(): Iterable<EdgeConnection> {
    return { [Symbol.iterator]: () => this.#open.values() };
  }

  onEnd(listener: (connection: EdgeConnection) => void): void {
    this.#onEnd = listener;
  }

  /** @returns undefined when it ended already */
  connectionOf({ stream, socket }: EdgeRequest): EdgeConnection | undefined {
    const known = this.#secure.get(stream?.session ?? socket);
    return known ?? ('encrypted' in socket ? undefined : this.below(socket));
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
      const connection = this.below(socket);
      const servedAs = this.#ports.routes.nameFor(name);
      // The host may have been removed during the handshake, or got a name and certificate of its own.
      if (!connection || servedAs === undefined || servedAs !== connection.servedAs) {
        socket.destroy();
        return;
      }
      connection.secure = socket;
      connection.host = name;
      this.#secure.set(socket, connection);
    });
    secure.on('session', (session) => {
      const connection = this.below(session.socket);
      if (connection) this.#took(connection, session);
    });
  }

  /** The connection below TLS. @returns undefined when it ended already */
  below(socket: Socket): EdgeConnection | undefined {
    return this.#open.get(addressesOf(socket));
  }

  #end(name: string, isMeant: (connection: EdgeConnection) => boolean): void {
    for (const connection of this.#open.values()) {
      const isOfName = connection.host === name || connection.servedAs === name;
      if (isOfName && isMeant(connection)) connection.socket.destroy();
    }
  }

  #admit(socket: Socket): void {
    this.#accepted += 1;
    const { networkOf, usages, limits, ticks } = this.#ports;
    const network = networkOf(socket.remoteAddress ?? '');
    if (usages.connectionsOf(network) >= limits.connectionsOfNetwork) {
      socket.destroy();
      return;
    }
    const connection = new EdgeConnection(socket, usages.joined(network), ticks);
    const addresses = addressesOf(socket);
    this.#open.set(addresses, connection);
    socket.on('close', () => {
      // The visitor may have opened another one between the same addresses meanwhile.
      if (this.#open.get(addresses) === connection) this.#open.delete(addresses);
      usages.left(network);
      this.#onEnd(connection);
    });
  }

  #took(connection: EdgeConnection, session: ServerHttp2Session): void {
    connection.session = session;
    this.#secure.set(session, connection);
    const count = () => {
      connection.countIdleFrame(this.#ports.limits.idleFrames);
    };
    session.on('ping', count).on('remoteSettings', count);
  }
}

const addressesOf = (socket: Socket): string => {
  const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = socket;
  return `${remoteAddress} ${String(remotePort)} ${localAddress} ${String(localPort)}`;
};

/** A coarse clock for timeouts, updated once a second. */
export interface Ticks {
  now: number;
}

export interface UnderWay {
  readonly bytes: number;
  /** Since when the visitor has taken nothing of it; undefined while it waits for us. */
  readonly stalledSince: number | undefined;
  cut(): void;
  /** The visitor has received all of it, or has disconnected. */
  finish(): void;
}

/** One connection from outside, and whether anything moves on it. */
export class EdgeConnection {
  readonly socket: Socket;
  /** The name whose certificate it got: a host, or the wildcard that covers it. */
  servedAs: string | undefined;
  /** The socket over TLS, and the host that it is for, after a handshake. */
  secure: Socket | undefined;
  host: string | undefined;
  readonly usage: NetworkUsage;
  readonly answers = new Set<UnderWay>();
  isUsed = false;
  session: ServerHttp2Session | undefined;
  /** When the visitor last sent a request or received a part of an answer. */
  progressAt: number;
  /** When the system last took bytes for it; counts only while it is full. */
  movedAt: number;
  fullAt = -Infinity;
  readonly #ticks: Ticks;
  #queued = 0;
  /** PINGs, SETTINGS and refused requests since the last progress. */
  #idleFrames = 0;

  constructor(socket: Socket, usage: NetworkUsage, ticks: Ticks) {
    this.socket = socket;
    this.usage = usage;
    this.#ticks = ticks;
    this.progressAt = this.movedAt = ticks.now;
  }

  /** Whether the visitor's network, or its system, takes less than we have to send. */
  get isFull(): boolean {
    return this.#queued > 0;
  }

  /** Call it regularly: Node does not report when the system accepts a part of the written bytes. */
  look(): void {
    const queued = queuedBytes(this.socket);
    if (queued !== this.#queued) this.movedAt = this.#ticks.now;
    this.#queued = queued;
    if (queued > 0) this.fullAt = this.#ticks.now;
  }

  madeProgress(): void {
    this.progressAt = this.movedAt = this.#ticks.now;
    this.#idleFrames = 0;
  }

  /** Counts useless frames: more than `most` of them end an HTTP/2 connection, with the reason. */
  countIdleFrame(most: number): void {
    this.#idleFrames += 1;
    const { session } = this;
    if (this.#idleFrames <= most || !session || session.destroyed) return;
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  }
}

/**
 * Bytes that the system has not accepted yet, including encrypted ones. Uses an undocumented property. Without it no
 * connection would look full: HTTP/1.1 would lose its limit of 20 seconds, HTTP/2 would count only whole slices.
 */
const queuedBytes = (socket: Socket): number => {
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
};
