import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { sendsRest } from '../../../kernel/connections.ts';

/** Clients learn it from `Keep-Alive` and do not use a connection that was idle for so long. */
export const keepAliveMs = 10_000;
/** After a stop begins, how long a new connection may take to send its first request. */
const graceMs = 500;
const sweepMs = 20;

interface Terms {
  readonly idleMs: number;
  /** For the first request of a connection: Node counts it as idle only after that. */
  readonly silentMs: number;
  /** For requests under way; then they are cut. */
  readonly longestMs: number;
}

/** Leaves time for what stops after it, before the process gives up; see `stopDeadlines`. */
const ending: Terms = { idleMs: 0, silentMs: graceMs, longestMs: 5_000 };
/** Closing an idle connection could meet its client's next request, which would fail. */
const replaced: Terms = { idleMs: keepAliveMs, silentMs: keepAliveMs, longestMs: 60_000 };

export interface Drained {
  readonly server: NetServer & Pick<Server, 'closeIdleConnections'>;
  readonly sockets: Iterable<Socket>;
  /** See `RunningRole`. */
  readonly isReplaced: AbortSignal | undefined;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
}

/** Closes the server and its connections as their requests end. @returns when all are closed */
export const drain = ({ server, sockets, isReplaced, elapsed }: Drained): Promise<void> => {
  let since = elapsed();
  let wasHurried = false;
  const termsNow = (): Terms => {
    if (!isReplaced) return ending;
    if (isReplaced.aborted && !wasHurried) [wasHurried, since] = [true, elapsed()];
    return wasHurried ? ending : replaced;
  };
  // A kept-alive connection becomes idle when its request ends, so repeat until all are closed.
  const look = ({ idleMs, silentMs, longestMs }: Terms, passedMs: number) => {
    const all = [...sockets];
    if (passedMs >= idleMs && !all.some(sendsRest)) server.closeIdleConnections();
    for (const socket of all) {
      const isSilent = socket.bytesRead === 0 && passedMs >= silentMs;
      if (isSilent || passedMs >= longestMs) socket.destroy();
    }
  };
  // What had arrived by then is read first: when timers are late, a connection that seems silent may have a request.
  const sweep = setInterval(() => {
    const terms = termsNow();
    setImmediate(look, terms, elapsed() - since);
  }, sweepMs);
  return new Promise((resolve) => {
    // The one of HTTP would close idle connections.
    NetServer.prototype.close.call(server, () => {
      clearInterval(sweep);
      resolve();
    });
  });
};
