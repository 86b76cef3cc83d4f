import { Redis } from 'ioredis';
import { readRedisAddress, type Sentinels } from './redis-address.ts';

const usualTimeoutMs = 500;

export const heartbeatMs = 1000;

interface ConnectionOptions {
  readonly onProblem: (error: Error) => void;
  /** `commandTimeout` in the address takes precedence. */
  readonly timeoutMs?: number | undefined;
  readonly commandsEnd: boolean;
  readonly lazyConnect?: true;
  readonly enableOfflineQueue?: false;
  /** With null, commands wait until Redis is back. */
  readonly maxRetriesPerRequest: number | null;
}

interface Connection {
  readonly redis: Redis;
  readonly timeoutMs: number;
}

/**
 * Opens a connection that reconnects. A frozen server never closes a connection, so unanswered connections are
 * destroyed (`socketTimeout`). After a fail-over the server may be a replica (READONLY) or lack replicas (NOREPLICAS);
 * then the sentinels are asked again.
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
    // A server that refuses writes still accepts connections, so the number of tries would stay low.
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

const noPrimary = ['READONLY', 'NOREPLICAS'];

const longestPauseMs = 500;
const pauseAfter = (tries: number): number => Math.min(tries * 50, longestPauseMs);

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
 * Asks a sentinel for the primary.
 * @returns `host:port`, or undefined if the sentinel does not know the name
 * @throws Error at the timeout
 */
export const askSentinel = async (
  { host, port }: Sentinels['hosts'][number],
  { name, username, password, usesTls }: Sentinels,
  timeoutMs: number,
): Promise<string | undefined> => {
  const sentinel = new Redis({
    host,
    port,
    commandTimeout: timeoutMs,
    connectTimeout: timeoutMs,
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
    // `connect` rejects with a general error; the real cause, such as an untrusted certificate, is in the event.
    await sentinel.connect().catch((error: unknown) => {
      throw problems[0] ?? error;
    });
    const found = await sentinel.call('sentinel', 'get-master-addr-by-name', name);
    return Array.isArray(found) ? found.join(':') : undefined;
  } finally {
    sentinel.disconnect();
  }
};
