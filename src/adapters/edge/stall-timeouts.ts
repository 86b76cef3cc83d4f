import type { Answers } from './answers.ts';
import type { EdgeLimits } from './edge-limits.ts';
import type { EdgeConnection, Ticks } from './edge-connections.ts';

interface Terms {
  readonly answers: Pick<Answers, 'cut' | 'stalled'>;
  readonly limits: EdgeLimits;
  readonly ticks: Ticks;
}

export const endStalled = (connection: EdgeConnection, terms: Terms): void => {
  const { answers, limits, ticks } = terms;
  connection.look();
  if (connection.isFull && ticks.now - connection.movedAt >= limits.stalledAnswerMs) {
    answers.stalled += 1;
    connection.socket.destroy();
  } else if (connection.session) endStalledStreams(connection, terms);
};

const endStalledStreams = (
  connection: EdgeConnection,
  { answers, limits, ticks: { now } }: Terms,
): void => {
  for (const answer of connection.answers) {
    const { stalledSince } = answer;
    const hasStalled = stalledSince !== undefined && now - stalledSince >= limits.stalledAnswerMs;
    if (hasStalled) answers.cut(connection, answer);
  }
  const idleMs = now - Math.max(connection.progressAt, connection.fullAt);
  if (idleMs >= limits.idleSessionMs + limits.endingSessionMs) connection.session?.destroy();
  else if (idleMs >= limits.idleSessionMs) connection.session?.close();
};
