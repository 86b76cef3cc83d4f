import type { Server, ServerResponse } from 'node:http';
import { constants, type Http2SecureServer, type Http2ServerResponse } from 'node:http2';
import { Server as NetServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { takeWaiting } from '../../kernel/incoming.ts';
import { keepAliveMs } from './edge-limits.ts';
import type { EdgeConnection } from './edge-connections.ts';

const longestDrainMs = 5_000;
const longestReplacedMs = 60_000;
/** The highest stream id (RFC 9113, section 6.8). It tells the client to open no more streams, but refuses none. */
const lastStream = 2 ** 31 - 1;
const graceMs = 500;
const sweepMs = 20;

type EdgePort = Server | Http2SecureServer;

export interface DrainedEdge {
  readonly servers: readonly EdgePort[];
  readonly connections: Iterable<EdgeConnection>;
  readonly accepted: () => number;
  readonly elapsed: () => number;
  /** Set if other processes serve on the same ports. It aborts when this edge must end soon. */
  readonly isReplaced: AbortSignal | undefined;
}

/** Lets requests in progress finish. Idle connections of a replaced edge close only when clients close them. */
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
    // By then HTTP/2 clients have received GOAWAY and open no streams.
    if (now - since >= graceMs) for (const { session } of connections) session?.close();
    if (now - since >= (mayWait ? keepAliveMs : graceMs)) letGo(edge);
    if (now >= endsAt) for (const { socket } of connections) socket.destroy();
  };
  // Pending input is read first: if timers are late, a connection that seems idle may have sent a request.
  const sweep = setInterval(() => setImmediate(look, elapsed(), hurriedAt()), sweepMs);
  const ends = servers.map(closed);
  if (!isReplaced) closeIdle(edge);
  await Promise.all(ends);
  clearInterval(sweep);
};

const closeIdle = ({ servers, connections }: DrainedEdge): void => {
  // Node counts a connection as idle while the end of its answer is still buffered.
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

const momentOf = (signal: AbortSignal | undefined, elapsed: () => number) => {
  let moment: number | undefined;
  return (): number | undefined => (moment ??= signal?.aborted ? elapsed() : undefined);
};

/** Makes each HTTP/1.1 answer close its connection. HTTP/2 uses GOAWAY instead. */
export const announceEnd = (servers: readonly EdgePort[]): void => {
  for (const server of servers) {
    server.off('request', closeAfterwards).prependListener('request', closeAfterwards);
  }
};

export const closeAfterwards = (
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
