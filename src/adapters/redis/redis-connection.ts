import { Redis } from 'ioredis';

const usualPatienceMs = 500;

/** Interval of pings on an idle connection, so that a dead one is detected. */
export const heartbeatMs = 1000;

export interface ConnectionOptions {
  /** Called for lost connections; commands reject by themselves. */
  readonly onProblem: (error: Error) => void;
  /** How long to wait for an answer; `commandTimeout` in the address takes precedence. */
  readonly patienceMs?: number | undefined;
  /** Whether commands fail without a timely answer; subscriptions wait as long as needed. */
  readonly commandsEnd: boolean;
  readonly lazyConnect?: true;
  readonly enableOfflineQueue?: false;
  /** null: commands wait until Redis is back. */
  readonly maxRetriesPerRequest: number | null;
}

export interface Connection {
  readonly redis: Redis;
  /** How long it waits for answers. */
  readonly patienceMs: number;
}

/**
 * A connection that reconnects until it is disconnected. A firewall that lost its state, or a frozen server, never
 * closes a connection; it just stops answering. So a connection without a timely answer is destroyed, also while it
 * opens (`socketTimeout`). After a fail-over the server may be a replica, which answers READONLY; that connection is
 * dropped too.
 */
export const openConnection = (url: string, options: ConnectionOptions): Connection => {
  const { onProblem, commandsEnd, patienceMs: given = usualPatienceMs, ...rest } = options;
  const { address, patienceMs } = readPatience(url, given);
  const redis = new Redis(address, {
    connectTimeout: 1000,
    disconnectTimeout: usualPatienceMs,
    socketTimeout: patienceMs,
    ...(commandsEnd && { commandTimeout: patienceMs }),
    retryStrategy: (tries) => Math.min(tries * 50, 500),
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    ...rest,
  });
  return { redis: redis.on('error', onProblem), patienceMs };
};

/** ioredis would take a number in an address for text, and wait forever. */
const readPatience = (url: string, usual: number): { address: string; patienceMs: number } => {
  const address = new URL(url);
  const given = Number(address.searchParams.get('commandTimeout'));
  address.searchParams.delete('commandTimeout');
  return {
    address: address.href,
    patienceMs: Number.isInteger(given) && given > 0 ? given : usual,
  };
};
