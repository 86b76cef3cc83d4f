import { constants, type ServerHttp2Session } from 'node:http2';
import type { EdgeConnections, EdgeConnection, Ticks, UnderWay } from './edge-connections.ts';
import type { EdgeLimits, NetworkUsages } from './edge-limits.ts';
import { refuse, type EdgeRequest, type EdgeResponse } from './edge-answer.ts';
import type { ReadyAnswer } from './site-cache.ts';

const roomToMake = 0.9;

export class Answers {
  readonly #usages: NetworkUsages;
  readonly #limits: EdgeLimits;
  readonly #ticks: Ticks;
  readonly #connections: Pick<EdgeConnections, 'connectionOf' | 'all'>;
  #triedAt = -Infinity;
  requests = 0;
  refused = 0;
  /** Answers with 500 or 503, or aborted ones, because of an error on our side. */
  failed = 0;
  stalled = 0;

  constructor(
    usages: NetworkUsages,
    connections: Pick<EdgeConnections, 'connectionOf' | 'all'>,
    { ticks, limits }: { readonly ticks: Ticks; readonly limits: EdgeLimits },
  ) {
    this.#usages = usages;
    this.#limits = limits;
    this.#ticks = ticks;
    this.#connections = connections;
  }

  begin(request: EdgeRequest, response: EdgeResponse): Answer | undefined {
    this.requests += 1;
    const connection = this.#connections.connectionOf(request);
    if (!connection || request.stream?.destroyed) {
      response.destroy();
      return undefined;
    }
    if (!this.#admits(connection)) {
      this.#refuse({ connection, request, response });
      return undefined;
    }
    const answer = new Answer(connection, this.#ticks, request, response);
    connection.answers.add(answer);
    connection.isUsed = true;
    connection.usage.answers += 1;
    this.#usages.all.answers += 1;
    connection.madeProgress();
    response.on('close', () => {
      this.#end(connection, answer);
    });
    return answer;
  }

  /** Reserves memory for an answer. @returns false if it was refused for lack of memory */
  hold(answer: Answer, bytes: number): boolean {
    const { bytesOfNetwork, bytes: most } = this.#limits;
    const { all } = this.#usages;
    const isWithin =
      answer.connection.usage.bytes + bytes <= bytesOfNetwork &&
      (all.bytes + bytes <= most || (this.#triedRoom() && all.bytes + bytes <= most));
    if (isWithin) this.#charge(answer, bytes);
    else this.#refuse(answer);
    return isWithin;
  }

  /** Reserves memory only while half of it is free. Refuses nothing. */
  holdEasily(answer: Answer, bytes: number): boolean {
    const { bytesOfNetwork, bytes: most } = this.#limits;
    const isWithin =
      answer.connection.usage.bytes + bytes <= bytesOfNetwork / 2 &&
      this.#usages.all.bytes + bytes <= most / 2;
    if (isWithin) this.#charge(answer, bytes);
    return isWithin;
  }

  endAll(connection: EdgeConnection): void {
    for (const answer of connection.answers) this.#end(connection, answer);
  }

  cut(connection: EdgeConnection, answer: UnderWay): void {
    this.stalled += 1;
    answer.cut();
    this.#end(connection, answer);
  }

  #admits({ answers: ofConnection, usage }: EdgeConnection): boolean {
    const { answersOfConnection, answersOfNetwork, answers } = this.#limits;
    const { all } = this.#usages;
    return (
      ofConnection.size < answersOfConnection &&
      usage.answers < answersOfNetwork &&
      (all.answers < answers || (this.#triedRoom() && all.answers < answers))
    );
  }

  #refuse({
    connection,
    request,
    response,
  }: Pick<Answer, 'connection' | 'request' | 'response'>): void {
    this.refused += 1;
    if (!request.stream) {
      refuse(request, response, 503, ['Retry-After', '1', 'Connection', 'close']);
      return;
    }
    request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    connection.countIdleFrame(this.#limits.idleFrames);
  }

  #charge(answer: Answer, bytes: number): void {
    if (answer.isOver) return;
    answer.bytes += bytes;
    answer.connection.usage.bytes += bytes;
    this.#usages.all.bytes += bytes;
  }

  #end(connection: EdgeConnection, answer: UnderWay): void {
    if (!connection.answers.delete(answer)) return;
    connection.usage.answers -= 1;
    connection.usage.bytes -= answer.bytes;
    this.#usages.all.answers -= 1;
    this.#usages.all.bytes -= answer.bytes;
    answer.finish();
  }

  #triedRoom(): boolean {
    if (this.#triedAt === this.#ticks.now) return false;
    this.#triedAt = this.#ticks.now;
    this.#makeRoom();
    return true;
  }

  #makeRoom(): void {
    const { now } = this.#ticks;
    const still = [...this.#connections.all]
      .flatMap((connection) =>
        [...connection.answers].map((answer) => ({
          connection,
          answer,
          since: answer.stalledSince ?? now,
        })),
      )
      .filter(({ since }) => now - since >= this.#limits.stillAnswerMs)
      .sort((one, other) => one.since - other.since);
    const { all } = this.#usages;
    for (const { connection, answer } of still) {
      const isEnough =
        all.answers < roomToMake * this.#limits.answers &&
        all.bytes < roomToMake * this.#limits.bytes;
      if (isEnough) return;
      this.cut(connection, answer);
    }
  }
}

/** Even a slow visitor receives this many bytes in time, which counts as progress. */
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

  async write(piece: Uint8Array): Promise<boolean> {
    for (let at = 0; at < piece.length && !this.isOver;) {
      const slice = piece.subarray(at, at + this.#slice);
      at += slice.length;
      await this.#take(slice);
    }
    return !this.isOver;
  }

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

/** Computes a slice that fits into the window of a new stream, whose size the client chooses. */
const firstSlice = ({ remoteSettings }: ServerHttp2Session): number =>
  Math.max(smallestSlice, Math.min(largestSlice, remoteSettings.initialWindowSize ?? 65_535));
