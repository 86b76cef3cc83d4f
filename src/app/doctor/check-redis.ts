import { askSentinel, openConnection } from '../../adapters/redis/redis-connection.ts';
import { readRedisAddress, type Sentinels } from '../../adapters/redis/redis-address.ts';
import type { Config } from '../settings/config.ts';
import { withoutUser } from '../settings/redaction.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

const timeoutMs = 3_000;

export const checkRedis = async ({ redisUrl }: Config): Promise<readonly Finding[]> => {
  if (redisUrl === undefined) return [ok('Not used: this process counts requests by itself.')];
  const sentinels = readRedisAddress(redisUrl)?.sentinels;
  return Promise.all([
    checkServer(redisUrl),
    ...(sentinels?.hosts.map((place) => checkSentinel(place, sentinels)) ?? []),
  ]);
};

const checkServer = async (redisUrl: string): Promise<Finding> => {
  const place = withoutUser(redisUrl);
  let problem = 'no answer';
  const { redis } = openConnection(redisUrl, {
    onProblem: ({ message }) => (problem = message),
    timeoutMs,
    commandsEnd: true,
    maxRetriesPerRequest: 2,
  });
  try {
    await redis.ping();
    return ok(`${place} answers.`);
  } catch {
    return failed(`${place} cannot be reached (${problem}).`, 'Start it, or correct REDIS_URL.');
  } finally {
    redis.disconnect();
  }
};

/** The service works with one of them, but without a majority of them no other server becomes the primary. */
const checkSentinel = async (
  place: Sentinels['hosts'][number],
  sentinels: Sentinels,
): Promise<Finding> => {
  const who = `The sentinel ${place.host}:${String(place.port)}`;
  try {
    const primary = await askSentinel(place, sentinels, timeoutMs);
    return primary === undefined
      ? warning(
          `${who} does not know ${sentinels.name}.`,
          'Correct the name in REDIS_URL or in its sentinel.conf.',
        )
      : ok(`${who} says that ${primary} is the primary.`);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return warning(`${who} does not answer (${problem}).`, 'Start it, or correct REDIS_URL.');
  }
};
