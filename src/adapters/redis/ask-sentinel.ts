import { Redis } from 'ioredis';
import type { Sentinels } from './redis-address.ts';

/**
 * Asks one sentinel for the primary. @returns its `host:port`, or undefined when the sentinel does not know the name
 * @throws Error when it does not answer in time
 */
export const askSentinel = async (
  { host, port }: Sentinels['hosts'][number],
  { name, username, password, usesTls }: Sentinels,
  patienceMs: number,
): Promise<string | undefined> => {
  const sentinel = new Redis({
    ...{ host, port, commandTimeout: patienceMs, connectTimeout: patienceMs },
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
