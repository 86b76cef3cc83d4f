import type { Answers } from './answers.ts';
import type { EdgeLimits } from './edge-limits.ts';
import type { Line, Ticks } from './line.ts';

/** How long a connection that was asked to end may take for that. */
const endingMs = 5_000;

interface Terms {
  readonly answers: Pick<Answers, 'cut' | 'stalled'>;
  readonly limits: EdgeLimits;
  readonly ticks: Ticks;
}

/** Ends what stalls: the connection, or answers on it. */
export const endStalled = (line: Line, terms: Terms): void => {
  const { answers, limits, ticks } = terms;
  line.look();
  if (line.isFull && ticks.now - line.movedAt >= limits.stalledAnswerMs) {
    answers.stalled += 1;
    line.socket.destroy();
  } else if (line.session) endStalledStreams(line, terms);
};

const endStalledStreams = (line: Line, { answers, limits, ticks: { now } }: Terms): void => {
  for (const answer of line.answers) {
    const { stalledSince } = answer;
    const hasStalled = stalledSince !== undefined && now - stalledSince >= limits.stalledAnswerMs;
    if (hasStalled) answers.cut(line, answer);
  }
  const idleMs = now - Math.max(line.progressAt, line.fullAt);
  if (idleMs >= limits.idleSessionMs + endingMs) line.session?.destroy();
  else if (idleMs >= limits.idleSessionMs) line.session?.close();
};
