import { constants } from 'node:http2';
import { Answer } from './answer.ts';
import { refuse, type EdgeRequest, type EdgeResponse } from './edge-answer.ts';
import type { EdgeConnections } from './edge-connections.ts';
import type { EdgeLimits } from './edge-limits.ts';
import type { HeldByNetwork } from './held.ts';
import type { Line, Ticks, UnderWay } from './line.ts';

/** An answer that stalled for this long may be ended to make room. */
const stillMs = 2_000;
/** Frees room for several at once, so that not every request has to search. */
const roomToMake = 0.9;

/**
 * All answers under way, within what one network and all together may hold. Requests beyond that are refused in their
 * protocol's way.
 */
export class Answers {
  readonly #held: HeldByNetwork;
  readonly #limits: EdgeLimits;
  readonly #ticks: Ticks;
  readonly #connections: Pick<EdgeConnections, 'lineOf' | 'lines'>;
  #triedAt = -Infinity;
  /** Since the process started, also those that are refused. */
  requests = 0;
  refused = 0;
  /** Answered with 500 or 503, or broken off, for reasons of ours. */
  failed = 0;
  stalled = 0;

  constructor(
    held: HeldByNetwork,
    connections: Pick<EdgeConnections, 'lineOf' | 'lines'>,
    { ticks, limits }: { readonly ticks: Ticks; readonly limits: EdgeLimits },
  ) {
    this.#held = held;
    this.#limits = limits;
    this.#ticks = ticks;
    this.#connections = connections;
  }

  /** @returns undefined when it is refused, or the visitor has disconnected already */
  begin(request: EdgeRequest, response: EdgeResponse): Answer | undefined {
    this.requests += 1;
    const line = this.#connections.lineOf(request);
    if (!line || request.stream?.destroyed) {
      response.destroy();
      return undefined;
    }
    if (!this.#admits(line)) {
      this.#refuse({ line, request, response });
      return undefined;
    }
    const answer = new Answer(line, this.#ticks, request, response);
    line.answers.add(answer);
    line.isUsed = true;
    line.held.answers += 1;
    this.#held.all.answers += 1;
    line.madeProgress();
    response.on('close', () => {
      this.#end(line, answer);
    });
    return answer;
  }

  /** Memory for an answer, which is refused where there is too little. */
  hold(answer: Answer, bytes: number): boolean {
    const { bytesOfNetwork, bytes: most } = this.#limits;
    const { all } = this.#held;
    const isWithin =
      answer.line.held.bytes + bytes <= bytesOfNetwork &&
      (all.bytes + bytes <= most || (this.#triedRoom() && all.bytes + bytes <= most));
    if (isWithin) this.#charge(answer, bytes);
    else this.#refuse(answer);
    return isWithin;
  }

  /** The same as long as half of the memory is free; refuses nothing. */
  holdEasily(answer: Answer, bytes: number): boolean {
    const { bytesOfNetwork, bytes: most } = this.#limits;
    const isWithin =
      answer.line.held.bytes + bytes <= bytesOfNetwork / 2 &&
      this.#held.all.bytes + bytes <= most / 2;
    if (isWithin) this.#charge(answer, bytes);
    return isWithin;
  }

  /** The connection has closed, and with it answers that have not begun. */
  endAll(line: Line): void {
    for (const answer of line.answers) this.#end(line, answer);
  }

  /** Gives up an answer that its visitor does not read. */
  cut(line: Line, answer: UnderWay): void {
    this.stalled += 1;
    answer.cut();
    this.#end(line, answer);
  }

  #admits({ answers: ofConnection, held }: Line): boolean {
    const { answersOfConnection, answersOfNetwork, answers } = this.#limits;
    const { all } = this.#held;
    return (
      ofConnection.size < answersOfConnection &&
      held.answers < answersOfNetwork &&
      (all.answers < answers || (this.#triedRoom() && all.answers < answers))
    );
  }

  #refuse({ line, request, response }: Pick<Answer, 'line' | 'request' | 'response'>): void {
    this.refused += 1;
    if (!request.stream) {
      refuse(request, response, 503, ['Retry-After', '1', 'Connection', 'close']);
      return;
    }
    request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    line.countIdleFrame(this.#limits.idleFrames);
  }

  #charge(answer: Answer, bytes: number): void {
    if (answer.isOver) return;
    answer.bytes += bytes;
    answer.line.held.bytes += bytes;
    this.#held.all.bytes += bytes;
  }

  #end(line: Line, answer: UnderWay): void {
    if (!line.answers.delete(answer)) return;
    line.held.answers -= 1;
    line.held.bytes -= answer.bytes;
    this.#held.all.answers -= 1;
    this.#held.all.bytes -= answer.bytes;
    answer.finish();
  }

  /** @returns false when it was tried a moment ago */
  #triedRoom(): boolean {
    if (this.#triedAt === this.#ticks.now) return false;
    this.#triedAt = this.#ticks.now;
    this.#makeRoom();
    return true;
  }

  /** Ends stalled answers to make room, the longest stalled first. */
  #makeRoom(): void {
    const { now } = this.#ticks;
    const still = [...this.#connections.lines]
      .flatMap((line) =>
        [...line.answers].map((answer) => ({ line, answer, since: answer.stalledSince ?? now })),
      )
      .filter(({ since }) => now - since >= stillMs)
      .sort((one, other) => one.since - other.since);
    const { all } = this.#held;
    for (const { line, answer } of still) {
      const isEnough =
        all.answers < roomToMake * this.#limits.answers &&
        all.bytes < roomToMake * this.#limits.bytes;
      if (isEnough) return;
      this.cut(line, answer);
    }
  }
}
