import { constants } from 'node:http2';
import type { Answer } from './answer.ts';
import type { Answers } from './answers.ts';
import { refuse, type EdgeRequest, type EdgeResponse } from './edge-answer.ts';
import type { EdgeConnections } from './edge-connections.ts';
import type { EdgeLimits } from './edge-limits.ts';
import type { Line } from './line.ts';
import { calmDown } from './patience.ts';

/** Admits requests while there is room, and refuses others in their protocol's way. */
export class Visitors {
  readonly #connections: Pick<EdgeConnections, 'lineOf'>;
  readonly #answers: Answers;
  readonly #limits: EdgeLimits;
  /** Since the process started, also those that are refused. */
  requests = 0;

  constructor(connections: Pick<EdgeConnections, 'lineOf'>, answers: Answers, limits: EdgeLimits) {
    this.#connections = connections;
    this.#answers = answers;
    this.#limits = limits;
  }

  /** @returns undefined when it is refused, or the visitor has disconnected already */
  begin(request: EdgeRequest, response: EdgeResponse): Answer | undefined {
    this.requests += 1;
    const line = this.#connections.lineOf(request);
    if (!line || request.stream?.destroyed) {
      response.destroy();
      return undefined;
    }
    const answer = this.#answers.begin(line, request, response);
    if (!answer) this.#refuse(line, request, response);
    return answer;
  }

  /** Memory for a large answer, as long as there is plenty. */
  holdEasily(answer: Answer, bytes: number): boolean {
    return this.#answers.holdEasily(answer, bytes);
  }

  /** Memory for an answer; where there is none it is refused. */
  hold(answer: Answer, bytes: number): boolean {
    const isHeld = this.#answers.hold(answer, bytes);
    if (!isHeld) this.#refuse(answer.line, answer.request, answer.response);
    return isHeld;
  }

  #refuse(line: Line, request: EdgeRequest, response: EdgeResponse): void {
    if (!request.stream) {
      refuse(request, response, 503, ['Retry-After', '1', 'Connection', 'close']);
      return;
    }
    request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    line.idleFrames += 1;
    if (line.idleFrames > this.#limits.idleFrames) calmDown(line);
  }
}
