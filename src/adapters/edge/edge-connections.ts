import type { Server } from 'node:http';
import { constants, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { EdgeLimits, NetworkUsage, NetworkUsages } from './edge-limits.ts';
import type { RouteTable } from './route-table.ts';
import type { EdgeRequest } from './edge-answer.ts';

interface ConnectionPorts {
  readonly routes: RouteTable;
  readonly networkOf: (address: string) => string;
  readonly usages: NetworkUsages;
  readonly limits: EdgeLimits;
  readonly ticks: Ticks;
}

export class EdgeConnections {
  readonly #ports: ConnectionPorts;
  /** Keyed by addresses, because a TLS socket has the same ones as the socket below. */
  readonly #open = new Map<string, EdgeConnection>();
  readonly #secure = new WeakMap<object, EdgeConnection>();
  #accepted = 0;
  #onEnd: (connection: EdgeConnection) => void = () => undefined;

  constructor(ports: ConnectionPorts) {
    this.#ports = ports;
    ports.routes.on('removed', (name) => {
      // A plain end would still deliver the megabytes that the system has accepted.
      for (const { socket } of this.#of(name)) socket.resetAndDestroy();
    });
    ports.routes.on('moved', (name) => {
      for (const { isUsed, socket } of this.#of(name)) if (isUsed) socket.destroy();
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
      // The host may have been removed, or got its own name and certificate, during the handshake.
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

  below(socket: Socket): EdgeConnection | undefined {
    return this.#open.get(addressesOf(socket));
  }

  #of(name: string): readonly EdgeConnection[] {
    return [...this.#open.values()].filter(
      ({ host, servedAs }) => host === name || servedAs === name,
    );
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
      // The visitor may have reconnected from the same port meanwhile.
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

export interface Ticks {
  now: number;
}

export interface UnderWay {
  readonly bytes: number;
  readonly stalledSince: number | undefined;
  cut(): void;
  finish(): void;
}

export class EdgeConnection {
  readonly socket: Socket;
  servedAs: string | undefined;
  secure: Socket | undefined;
  host: string | undefined;
  readonly usage: NetworkUsage;
  readonly answers = new Set<UnderWay>();
  isUsed = false;
  session: ServerHttp2Session | undefined;
  progressAt: number;
  /** When the system last accepted bytes. Relevant only while the connection is full. */
  movedAt: number;
  fullAt = -Infinity;
  readonly #ticks: Ticks;
  #queued = 0;
  #idleFrames = 0;

  constructor(socket: Socket, usage: NetworkUsage, ticks: Ticks) {
    this.socket = socket;
    this.usage = usage;
    this.#ticks = ticks;
    this.progressAt = this.movedAt = ticks.now;
  }

  get isFull(): boolean {
    return this.#queued > 0;
  }

  /** Call it regularly, because Node does not report when the system accepts part of a write. */
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

  countIdleFrame(most: number): void {
    this.#idleFrames += 1;
    const { session } = this;
    if (this.#idleFrames <= most || !session || session.destroyed) return;
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  }
}

/**
 * Bytes that the system has not accepted. Uses an undocumented property; without it, no connection counts
 * as full.
 */
const queuedBytes = (socket: Socket): number => {
  const { _handle: handle } = socket as { _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
};
