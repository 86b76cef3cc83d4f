/** Most pipelined requests that may wait on one connection. Well-behaved clients send far fewer. */
export const mostAhead = 100;

interface Connection {
  readonly destroyed: boolean;
  destroy(): unknown;
}
interface Request {
  readonly socket: Connection;
}
interface Response {
  once(event: 'close', listener: () => void): unknown;
}
type Handle<Asked extends Request, Answer extends Response> = (
  request: Asked,
  response: Answer,
) => unknown;

/**
 * Handles the pipelined requests of a connection one after the other, yielding to other connections in between. One
 * packet can hold a thousand requests, and Node would start all of them at once.
 * @param later calls back after other work had its turn
 */
export const oneAtATime = <Asked extends Request, Answer extends Response>(
  handle: Handle<Asked, Answer>,
  later: (call: () => void) => unknown,
): Handle<Asked, Answer> => {
  /** Waiting requests by connection; a connection is in here while it has a request under way. */
  const waiting = new WeakMap<Connection, [Asked, Answer][]>();

  const begin = ([request, response]: [Asked, Answer], behind: [Asked, Answer][]): void => {
    const { socket } = request;
    response.once('close', () => {
      if (behind.length === 0 || socket.destroyed) waiting.delete(socket);
      else {
        later(() => {
          callNext(socket, behind);
        });
      }
    });
    handle(request, response);
  };

  const callNext = (socket: Connection, behind: [Asked, Answer][]): void => {
    const next = behind.shift();
    if (next && !socket.destroyed) begin(next, behind);
    else waiting.delete(socket);
  };

  return (request, response) => {
    const { socket } = request;
    const behind = waiting.get(socket);
    if (!behind) {
      const none: [Asked, Answer][] = [];
      waiting.set(socket, none);
      begin([request, response], none);
    } else if (behind.length < mostAhead) behind.push([request, response]);
    else socket.destroy();
  };
};

interface WaitingConnections {
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

/** A stream to its end, or no more of it than shows that it has more than `most` bytes. */
export const beginningOf = async (
  stream: AsyncIterable<Uint8Array>,
  most: number,
): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > most) break;
  }
  return Buffer.concat(chunks);
};
