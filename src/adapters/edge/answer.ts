import { constants, type ServerHttp2Session } from 'node:http2';
import type { ReadyAnswer } from './site-cache.ts';
import type { EdgeConnection, Ticks, UnderWay } from './edge-connections.ts';
import type { EdgeRequest, EdgeResponse } from './edge-answer.ts';

/** Small enough that even a slow visitor receives one in time, which counts as progress. */
const smallestSlice = 256;
const largestSlice = 64 * 1024;
const slowMs = 1_500;

const nothing = (): void => undefined;

export class Answer implements UnderWay {
  readonly connection: EdgeConnection;
  readonly request: EdgeRequest;
  readonly response: EdgeResponse;
  bytes = 0;
  isOver = false;
  #progressAt: number;
  #isWaiting = false;
  #slice: number;
  #wake = nothing;
  readonly #ticks: Ticks;

  constructor(
    connection: EdgeConnection,
    ticks: Ticks,
    request: EdgeRequest,
    response: EdgeResponse,
  ) {
    this.connection = connection;
    this.#ticks = ticks;
    this.request = request;
    this.response = response;
    this.#progressAt = ticks.now;
    // For HTTP/1.1 we measure progress below TLS, so slices would only cost time.
    this.#slice = connection.session ? firstSlice(connection.session) : Infinity;
  }

  get stalledSince(): number | undefined {
    if (!this.#isWaiting && !this.response.writableEnded) return undefined;
    // While the connection is full, all its answers wait for it.
    const { session, movedAt, fullAt } = this.connection;
    return Math.max(this.#progressAt, session ? fullAt : movedAt);
  }

  /** Waits until the piece is accepted. @returns false if the visitor has disconnected */
  async write(piece: Uint8Array): Promise<boolean> {
    for (let at = 0; at < piece.length && !this.isOver;) {
      const slice = piece.subarray(at, at + this.#slice);
      at += slice.length;
      await this.#take(slice);
    }
    return !this.isOver;
  }

  /** Sends the last piece, in slices if it is large. @returns undefined if nothing is left to wait for */
  end(piece?: Uint8Array): Promise<void> | undefined {
    if (piece !== undefined && piece.length > this.#slice) return this.#endSliced(piece);
    this.#waits();
    this.response.end(piece);
    return undefined;
  }

  endReady(ready: ReadyAnswer, status: number): Promise<void> | undefined {
    this.#waits();
    if (status === 200 && ready.end(this.response)) return undefined;
    this.response.writeHead(status, ready.headers as string[]);
    return this.end(ready.content);
  }

  cut(): void {
    const { stream } = this.request;
    if (stream) stream.close(constants.NGHTTP2_CANCEL);
    else this.connection.socket.destroy();
  }

  finish(): void {
    this.isOver = true;
    this.#wake();
  }

  async #endSliced(piece: Uint8Array): Promise<void> {
    if (!(await this.write(piece))) return;
    this.#waits();
    this.response.end();
  }

  #waits(): void {
    this.#isWaiting = true;
    this.#progressAt = this.#ticks.now;
  }

  async #take(slice: Uint8Array): Promise<void> {
    const begunAt = this.#ticks.now;
    this.#waits();
    await new Promise<void>((resolve) => {
      // Node sends no event to a pipelined answer when the connection ends.
      this.#wake = resolve;
      this.response.write(slice, () => {
        resolve();
      });
    });
    this.#isWaiting = false;
    if (this.isOver) return;
    this.#progressAt = this.#ticks.now;
    this.connection.madeProgress();
    if (this.#slice === Infinity) return;
    const isSlow = this.#ticks.now - begunAt > slowMs;
    this.#slice = isSlow ? smallestSlice : Math.min(2 * this.#slice, largestSlice);
  }
}

/** Fits into the window of a new stream, whose size the client chooses. */
const firstSlice = ({ remoteSettings }: ServerHttp2Session): number =>
  Math.max(smallestSlice, Math.min(largestSlice, remoteSettings.initialWindowSize ?? 65_535));
