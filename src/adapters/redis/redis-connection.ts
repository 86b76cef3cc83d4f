import { Redis } from 'ioredis';
import { readRedisAddress, type Sentinels } from './redis-address.ts';

const usualTimeoutMs = 500;

/** Interval of pings on an idle connection, so that a dead one is detected. */
export const heartbeatMs = 1000;

interface ConnectionOptions {
  /** Called for lost connections; commands reject by themselves. */
  readonly onProblem: (error: Error) => void;
  /** How long to wait for an answer; `commandTimeout` in the address takes precedence. */
  readonly timeoutMs?: number | undefined;
  /** Whether commands fail without a timely answer; subscriptions wait as long as needed. */
  readonly commandsEnd: boolean;
  readonly lazyConnect?: true;
  readonly enableOfflineQueue?: false;
  /** null: commands wait until Redis is back. */
  readonly maxRetriesPerRequest: number | null;
}

interface Connection {
  readonly redis: Redis;
  readonly timeoutMs: number;
}

/**
 * A connection that reconnects until it is disconnected. A firewall that lost its state, or a frozen server, never
 * closes a connection; it just stops answering. So a connection without a timely answer is destroyed, also while it
 * opens (`socketTimeout`). After a fail-over the server may be a replica, which answers READONLY, or a primary that
 * has lost its replicas (NOREPLICAS); that connection is dropped too, and the address or the sentinels are asked again.
 */
export const openConnection = (url: string, options: ConnectionOptions): Connection => {
  const { onProblem, commandsEnd, timeoutMs: given = usualTimeoutMs, ...rest } = options;
  const address = readRedisAddress(url);
  if (!address) throw new Error('not the address of a Redis');
  const { timeoutMs = given, sentinels } = address;
  const refused = { at: -Infinity };
  const redis = new Redis(address.url, {
    connectTimeout: 1000,
    disconnectTimeout: usualTimeoutMs,
    socketTimeout: timeoutMs,
    ...(commandsEnd && { commandTimeout: timeoutMs }),
    // A server that refuses writes accepts connections, so that their number alone would never make it wait.
    retryStrategy: (tries) => {
      const wasRefused = performance.now() - refused.at < 2 * longestPauseMs;
      return wasRefused ? longestPauseMs : pauseAfter(tries);
    },
    reconnectOnError: ({ message }) => {
      const isRefused = noPrimary.some((word) => message.startsWith(word));
      if (isRefused) refused.at = performance.now();
      return isRefused;
    },
    ...(sentinels && throughSentinels(sentinels, timeoutMs)),
    ...rest,
  });
  return { redis: redis.on('error', onProblem), timeoutMs };
};

/** What a server answers to writes that is no primary, or may be none any more (`min-replicas-to-write`). */
const noPrimary = ['READONLY', 'NOREPLICAS'];

const longestPauseMs = 500;
const pauseAfter = (tries: number): number => Math.min(tries * 50, longestPauseMs);

/** ioredis asks one sentinel after the other at each new connection, and checks that the server is a primary. */
const throughSentinels = (sentinels: Sentinels, timeoutMs: number) => ({
  sentinels: [...sentinels.hosts],
  name: sentinels.name,
  ...(sentinels.username !== undefined && { sentinelUsername: sentinels.username }),
  ...(sentinels.password !== undefined && { sentinelPassword: sentinels.password }),
  ...(sentinels.usesTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  sentinelCommandTimeout: timeoutMs,
  sentinelRetryStrategy: pauseAfter,
});

/**
 * Asks one sentinel for the primary. @returns its `host:port`, or undefined when the sentinel does not know the name
 * @throws Error when it does not answer in time
 */
export const askSentinel = async (
  { host, port }: Sentinels['hosts'][number],
  { name, username, password, usesTls }: Sentinels,
  timeoutMs: number,
): Promise<string | undefined> => {
  const sentinel = new Redis({
    ...{ host, port, commandTimeout: timeoutMs, connectTimeout: timeoutMs },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(usesTls && { tls: {} }),
    enableReadyCheck: false,
    lazyConnect: true,
    retryStrategy: null,
  });
  const problems: unknown[] = [];
  sentinel.on('error', (error) => problems.push(error));
  try {
    // What it says itself is only that the connection is closed, not that a certificate is not trusted.
    await sentinel.connect().catch((error: unknown) => {
      throw problems[0] ?? error;
    });
    const found = await sentinel.call('sentinel', 'get-master-addr-by-name', name);
    return Array.isArray(found) ? found.join(':') : undefined;
  } finally {
    sentinel.disconnect();
  }
};
