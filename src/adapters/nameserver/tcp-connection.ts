import type { Socket } from 'node:net';
import type { Responder } from './responder.ts';
import type { NameServerLimits } from './limits.ts';

export interface ConnectionTerms {
  readonly limits: NameServerLimits;
  /** Whether to end it after the next answers. */
  readonly isLast: () => boolean;
}

/**
 * Questions on one connection, each with its length in front (RFC 1035, section 4.2.2; RFC 7766): answered one after the
 * other, in their order.
 */
export class TcpConnection {
  readonly #socket: Socket;
  readonly #responder: Responder;
  readonly #terms: ConnectionTerms;
  #read = Buffer.alloc(0);
  /** One for all: a silent client, one that sends slowly, and one that takes no answers. */
  #deadline: NodeJS.Timeout | undefined;
  /** When it was opened, or took its last answer: monotonic milliseconds. */
  quietSince = performance.now();
  #isAnswering = false;
  #isEnding = false;
  /** Called when the client has taken the last answer, and when the connection has ended. */
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

  /** At once: somebody else needs its place. */
  cut(): void {
    this.#socket.destroy();
  }

  /** Ends the connection after the answers to what has arrived. */
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
      // Other connections have their turn.
      await new Promise(setImmediate);
    }
    this.#isAnswering = false;
    if (this.#isEnding || this.#terms.isLast()) this.end();
    else this.#socket.resume();
  }

  /** What is no question gains the client no time. */
  async #answerWith(answer: Buffer | Promise<Buffer>): Promise<void> {
    const { questionMs } = this.#terms.limits;
    this.#destroyIn(questionMs);
    await this.#send(await answer);
    this.#destroyIn(questionMs);
    this.quietSince = performance.now();
  }

  /** @returns undefined until a message is whole; a client that announces a large one is sent away */
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

  /** Waits until the client has taken it, or the connection has ended. */
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
