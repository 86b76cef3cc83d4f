import { Redis } from 'ioredis';

const usualPatienceMs = 500;

/** How often an idle connection is asked something: so soon is it known that it is dead. */
export const heartbeatMs = 1000;

export interface ConnectionOptions {
  /** Hears of lost connections; commands fail by themselves. */
  readonly onProblem: (error: Error) => void;
  /** For how long an answer is waited for; `commandTimeout` in the address goes before it. */
  readonly patienceMs?: number | undefined;
  /** Whether commands fail without an answer in time; a subscription waits until it is there. */
  readonly commandsEnd: boolean;
  readonly lazyConnect?: true;
  readonly enableOfflineQueue?: false;
  /** null: commands wait for as long as Redis is away. */
  readonly maxRetriesPerRequest: number | null;
}

export interface Connection {
  readonly redis: Redis;
  /** For which it waits for answers. */
  readonly patienceMs: number;
}

/**
 * A connection that is opened again whenever it is lost, until it is disconnected.
 *
 * A firewall that lost its state and a frozen server end no connection: they only never answer again. So a
 * connection on which nothing comes back in time is destroyed, also while it is being opened (`socketTimeout`).
 * After a fail-over the server behind a connection may be a replica, which says READONLY: it is left as well.
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
