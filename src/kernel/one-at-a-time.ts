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
