import type { Server, ServerResponse } from 'node:http';
import { constants, type Http2SecureServer, type Http2ServerResponse } from 'node:http2';
import { Server as NetServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { takeWaiting } from '../../kernel/incoming.ts';
import { keepAliveMs } from './edge-limits.ts';
import type { EdgeConnection } from './edge-connections.ts';

/** How long requests under way may take when an edge stops. */
const longestDrainMs = 5_000;
/** The same when others serve on its ports, so that nobody waits for its end. */
const longestReplacedMs = 60_000;
/** Of any stream that a client may open (RFC 9113, section 6.8): it shall open no further ones, and none is refused. */
const lastStream = 2 ** 31 - 1;
/** During that time, new connections and sessions may send their first request. */
const graceMs = 500;
const sweepMs = 20;

type EdgePort = Server | Http2SecureServer;

export interface DrainedEdge {
  readonly servers: readonly EdgePort[];
  readonly connections: Iterable<EdgeConnection>;
  readonly accepted: () => number;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  /** Given when other processes serve on its ports; aborts when the edge ends soon all the same. */
  readonly isReplaced: AbortSignal | undefined;
}

/**
 * Closes the servers. Requests under way get their answers, within a time limit; idle connections are closed, those
 * of a replaced edge only when no client uses them any more: closing one could meet its client's next request.
 */
export const drainEdge = async (edge: DrainedEdge): Promise<void> => {
  const { servers, connections, accepted, elapsed, isReplaced } = edge;
  const begun = elapsed();
  const waiting = { accepted, turn, elapsed: () => performance.now() };
  await takeWaiting(waiting);
  const since = elapsed();
  for (const { session } of connections) session?.goaway(constants.NGHTTP2_NO_ERROR, lastStream);
  const hurriedAt = momentOf(isReplaced, elapsed);
  const look = (now: number, hurried: number | undefined) => {
    const mayWait = isReplaced !== undefined && hurried === undefined;
    const endsAt = mayWait ? begun + longestReplacedMs : (hurried ?? begun) + longestDrainMs;
    // By then clients of HTTP/2 know that they shall open no stream.
    if (now - since >= graceMs) for (const { session } of connections) session?.close();
    if (now - since >= (mayWait ? keepAliveMs : graceMs)) letGo(edge);
    if (now >= endsAt) for (const { socket } of connections) socket.destroy();
  };
  // What had arrived by then is read first: when timers are late, a connection that seems silent may have a request.
  const sweep = setInterval(() => setImmediate(look, elapsed(), hurriedAt()), sweepMs);
  const ends = servers.map(closed);
  if (!isReplaced) closeIdle(edge);
  await Promise.all(ends);
  clearInterval(sweep);
};

const closeIdle = ({ servers, connections }: DrainedEdge): void => {
  // Node counts a connection as idle while the end of its answer still waits to be sent.
  for (const { socket, secure = socket } of connections) if (secure.writableLength > 0) return;
  for (const server of servers) (server as Server).closeIdleConnections();
};

const letGo = (edge: DrainedEdge): void => {
  closeIdle(edge);
  // Node counts a connection as idle only after its first request, but browsers open some in advance.
  for (const { socket, secure = socket } of edge.connections) {
    if (secure.bytesRead === 0) socket.destroy();
  }
};

/** When it was aborted, as seen first; undefined until then. */
const momentOf = (signal: AbortSignal | undefined, elapsed: () => number) => {
  let moment: number | undefined;
  return (): number | undefined => (moment ??= signal?.aborted ? elapsed() : undefined);
};

/** Each answer from now on is the last one of its connection; HTTP/2 has GOAWAY. */
export const announceEnd = (servers: readonly EdgePort[]): void => {
  for (const server of servers) {
    server.off('request', closeAfterwards).prependListener('request', closeAfterwards);
  }
};

const closeAfterwards = (
  _request: unknown,
  response: ServerResponse | Http2ServerResponse,
): void => {
  if ('shouldKeepAlive' in response) response.shouldKeepAlive = false;
};

const closed = (server: EdgePort): Promise<void> =>
  new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => {
      resolve();
    });
  });
