/** The most pipelined requests that may wait on one connection. Ordinary clients send far fewer. */
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

/** Handles requests one at a time. One packet can contain a thousand, and Node would start them all at once. */
export const oneAtATime = <Asked extends Request, Answer extends Response>(
  handle: Handle<Asked, Answer>,
  later: (call: () => void) => unknown,
): Handle<Asked, Answer> => {
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

/** Counts a header, because Node silently keeps the first of several. @param wanted in lower case */
export const timesSent = (rawHeaders: readonly string[], wanted: string): number => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === wanted.length && name.toLowerCase() === wanted) count += 1;
  }
  return count;
};

interface WaitingConnections {
  readonly accepted: () => number;
  readonly turn: () => Promise<unknown>;
  readonly elapsed: () => number;
}

/** A full queue takes a while on a busy machine, and new connections may arrive faster than they are taken. */
const longestMs = 2_000;

/**
 * Takes connections that the system has queued, because closing a server resets them. Node accepts one per turn of the
 * event loop.
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

/** Reads a stream to its end, or until it exceeds `most` bytes. */
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
