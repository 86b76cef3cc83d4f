export interface WaitingConnections {
  readonly accepted: () => number;
  /** Lets the event loop turn once. */
  readonly turn: () => Promise<unknown>;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
}

/** A busy machine needs a while for a full queue. New connections may come faster than it can take them. */
const longestMs = 2_000;

/**
 * The operating system accepts connections before Node does, and closing a server would reset those that still wait.
 * Node takes one per turn of the event loop, so the queue is empty after some turns without one.
 */
export const takeWaiting = async (waiting: WaitingConnections): Promise<void> => {
  const { accepted, turn, elapsed } = waiting;
  const longest = elapsed() + longestMs;
  for (let quiet = 0; quiet < 3 && elapsed() < longest; quiet++) {
    const before = accepted();
    await turn();
    if (accepted() > before) quiet = -1;
  }
};
