import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { networkOf, type NameServerLimits } from './limits.ts';
import type { Responder } from './responder.ts';

const longestDrainMs = 2_000;

interface TcpOptions {
  readonly limits: NameServerLimits;
  readonly onError: (error: unknown) => void;
}

export class TcpListener {
  readonly #limits: NameServerLimits;
  readonly #server: Server;
  readonly #connections = new Set<TcpConnection>();
  readonly #byNetwork = new Map<string, Set<TcpConnection>>();
  #isLast = false;
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

  async listen(host: string, port: number): Promise<number> {
    await once(this.#server.listen(port, host), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  announceEnd(): void {
    this.#isLast = true;
  }

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

  /** Ends the quietest connection of the largest networks (RFC 7766, section 6.2.3), so that few cannot hold all. */
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
    // Forgotten immediately, because others may connect before `close` fires.
    this.#forget(connection, network);
  }
}

interface ConnectionTerms {
  readonly limits: NameServerLimits;
  readonly isLast: () => boolean;
}

/** Answers the questions of one connection in their order (RFC 1035, section 4.2.2; RFC 7766). */
export class TcpConnection {
  readonly #socket: Socket;
  readonly #responder: Responder;
  readonly #terms: ConnectionTerms;
  #read = Buffer.alloc(0);
  /** One timer covers silent clients, slow senders and slow readers. */
  #deadline: NodeJS.Timeout | undefined;
  quietSince = performance.now();
  #isAnswering = false;
  #isEnding = false;
  #goOn = (): void => undefined;

  constructor(socket: Socket, responder: Responder, terms: ConnectionTerms) {
    this.#socket = socket;
    this.#terms = terms;
    this.#responder = responder;
    this.#destroyIn(terms.limits.firstQuestionMs);
    socket.on('data', (chunk: Buffer) => {
      if (this.#isEnding) return;
      this.#read = Buffer.concat([this.#read, chunk]);
      if (!this.#isAnswering) void this.#answerAll();
    });
    socket.on('end', () => {
      this.end();
    });
    socket.on('error', () => undefined);
    socket.on('drain', () => {
      this.#goOn();
    });
    socket.on('close', () => {
      clearTimeout(this.#deadline);
      this.#goOn();
    });
  }

  cut(): void {
    this.#socket.destroy();
  }

  end(): void {
    this.#isEnding = true;
    if (!this.#isAnswering) this.#socket.end();
  }

  #destroyIn(ms: number): void {
    clearTimeout(this.#deadline);
    if (this.#socket.destroyed) return;
    this.#deadline = setTimeout(() => this.#socket.destroy(), ms);
  }

  async #answerAll(): Promise<void> {
    this.#isAnswering = true;
    this.#socket.pause();
    for (let message = this.#next(); message; message = this.#next()) {
      const answer = this.#responder.overTcp(message);
      if (answer) await this.#answerWith(answer);
      await new Promise(setImmediate);
    }
    this.#isAnswering = false;
    if (this.#isEnding || this.#terms.isLast()) this.end();
    else this.#socket.resume();
  }

  /** Only an answered question extends the deadline. */
  async #answerWith(answer: Buffer | Promise<Buffer>): Promise<void> {
    const { questionMs } = this.#terms.limits;
    this.#destroyIn(questionMs);
    await this.#send(await answer);
    this.#destroyIn(questionMs);
    this.quietSince = performance.now();
  }

  #next(): Buffer | undefined {
    if (this.#socket.destroyed || this.#read.length < 2) return undefined;
    const length = this.#read.readUInt16BE(0);
    if (length > this.#terms.limits.questionBytes) {
      this.#socket.destroy();
      return undefined;
    }
    if (this.#read.length < 2 + length) return undefined;
    const message = this.#read.subarray(2, 2 + length);
    this.#read = this.#read.subarray(2 + length);
    return message;
  }

  async #send(answer: Buffer): Promise<void> {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(answer.length);
    await new Promise<void>((resolve) => {
      this.#goOn = resolve;
      const isTaken = this.#socket.write(Buffer.concat([length, answer]));
      if (isTaken || this.#socket.closed) resolve();
    });
  }
}
