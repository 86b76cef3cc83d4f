/** Requests that may wait on one connection for the answers before theirs. Nobody who means well sends so many. */
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
 * Of the requests of one connection each waits until the one before it is answered, and lets others in before it begins:
 * one packet holds a thousand of them, and Node would begin all of them in one go.
 * @param later calls once others had their turn
 */
export const oneAtATime = <Asked extends Request, Answer extends Response>(
  handle: Handle<Asked, Answer>,
  later: (call: () => void) => unknown,
): Handle<Asked, Answer> => {
  /** By connections that have a request under way. */
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
