import { constants } from 'node:http2';
import type { Answers } from './answers.ts';
import type { EdgeLimits } from './edge-limits.ts';
import type { Line, Ticks } from './line.ts';

/** How long a connection that was asked to end may take for that. */
const endingMs = 5_000;

/** Ends stalled answers and connections. */
export class Patience {
  readonly #answers: Answers;
  readonly #limits: EdgeLimits;
  readonly #ticks: Ticks;

  constructor(answers: Answers, limits: EdgeLimits, ticks: Ticks) {
    this.#answers = answers;
    this.#limits = limits;
    this.#ticks = ticks;
  }

  look(lines: Iterable<Line>): void {
    for (const line of lines) {
      line.look();
      if (line.isFull && this.#waited(line.movedAt) >= this.#limits.stalledAnswerMs) {
        this.#answers.stalled += 1;
        line.socket.destroy();
      } else if (line.session) this.#lookAtSession(line);
    }
  }

  #lookAtSession(line: Line): void {
    const { stalledAnswerMs, idleSessionMs } = this.#limits;
    for (const answer of line.answers) {
      const { stalledSince } = answer;
      if (stalledSince !== undefined && this.#waited(stalledSince) >= stalledAnswerMs) {
        this.#answers.cut(line, answer);
      }
    }
    const idleMs = this.#waited(Math.max(line.progressAt, line.fullAt));
    if (idleMs >= idleSessionMs + endingMs) line.session?.destroy();
    else if (idleMs >= idleSessionMs) line.session?.close();
  }

  #waited(since: number): number {
    return this.#ticks.now - since;
  }
}

/** Counts useless frames on an HTTP/2 connection. */
export const countIdleFrames = (line: Line, most: number): void => {
  const count = () => {
    line.idleFrames += 1;
    if (line.idleFrames > most) calmDown(line);
  };
  line.session?.on('ping', count).on('remoteSettings', count);
};

/** Ends an HTTP/2 connection, and says why. */
export const calmDown = ({ session }: Line): void => {
  if (!session || session.destroyed) return;
  session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  session.destroy();
};
