import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { NameServerLimits } from './limits.ts';
import { networkOf } from './network.ts';
import type { Responder } from './responder.ts';
import { TcpConnection } from './tcp-connection.ts';

/** How long clients may take for their last answers when the server stops. */
const longestDrainMs = 2_000;

interface TcpOptions {
  readonly limits: NameServerLimits;
  readonly onError: (error: unknown) => void;
}

/** Questions by connections. */
export class TcpListener {
  readonly #limits: NameServerLimits;
  readonly #server: Server;
  readonly #connections = new Set<TcpConnection>();
  readonly #byNetwork = new Map<string, Set<TcpConnection>>();
  #isLast = false;
  /** Connections beyond a limit: new ones, or others in their stead. */
  refused = 0;

  constructor(responder: Responder, { limits, onError }: TcpOptions) {
    this.#limits = limits;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#admit(socket, responder);
    });
    this.#server.on('error', onError);
  }

  get count(): number {
    return this.#connections.size;
  }

  /** @throws the server's error */
  async listen(host: string, port: number): Promise<number> {
    await once(this.#server.listen(port, host), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends each connection after its next answers. */
  announceEnd(): void {
    this.#isLast = true;
  }

  /** Answers what has arrived. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const connection of this.#connections) connection.end();
    const cut = setTimeout(() => {
      for (const connection of this.#connections) connection.cut();
    }, longestDrainMs);
    await closed;
    clearTimeout(cut);
  }

  #admit(socket: Socket, responder: Responder): void {
    const network = networkOf(socket.remoteAddress ?? '');
    const { connections, connectionsOfNetwork } = this.#limits;
    if ((this.#byNetwork.get(network)?.size ?? 0) >= connectionsOfNetwork) {
      this.refused += 1;
      socket.on('error', () => undefined).destroy();
      return;
    }
    if (this.#connections.size >= connections) this.#makeRoom();
    const terms = { limits: this.#limits, isLast: () => this.#isLast };
    const connection = new TcpConnection(socket, responder, terms);
    this.#connections.add(connection);
    const theirs = this.#byNetwork.get(network) ?? new Set();
    this.#byNetwork.set(network, theirs.add(connection));
    socket.on('close', () => {
      this.#forget(connection, network);
    });
  }

  #forget(connection: TcpConnection, network: string): void {
    this.#connections.delete(connection);
    const theirs = this.#byNetwork.get(network);
    theirs?.delete(connection);
    if (theirs?.size === 0) this.#byNetwork.delete(network);
  }

  /**
   * Ends the connection that has been quiet for longest, of the networks with most connections (RFC 7766, section 6.2.3).
   * Otherwise a few networks that say nothing could hold all places.
   */
  #makeRoom(): void {
    const networks = [...this.#byNetwork];
    const most = Math.max(...networks.map(([, { size }]) => size));
    const crowd = networks.flatMap(([network, theirs]) =>
      theirs.size === most ? [...theirs].map((connection) => ({ network, connection })) : [],
    );
    const { connection, network } = crowd.reduce((one, other) =>
      other.connection.quietSince < one.connection.quietSince ? other : one,
    );
    this.refused += 1;
    connection.cut();
    // Before its end is told: others may come meanwhile.
    this.#forget(connection, network);
  }
}
