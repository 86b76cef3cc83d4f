import { openConnection } from '../../adapters/redis/redis-connection.ts';
import type { Config } from '../settings/config.ts';
import { withoutUser } from '../settings/redaction.ts';
import { failed, ok, type Finding } from './finding.ts';

const patienceMs = 3_000;

export const checkRedis = async ({ redisUrl }: Config): Promise<readonly Finding[]> => {
  if (redisUrl === undefined) return [ok('Not used: this process counts requests by itself.')];
  const place = withoutUser(redisUrl);
  let problem = 'no answer';
  const { redis } = openConnection(redisUrl, {
    onProblem: ({ message }) => (problem = message),
    patienceMs,
    commandsEnd: true,
    maxRetriesPerRequest: 2,
  });
  try {
    await redis.ping();
    return [ok(`${place} answers.`)];
  } catch {
    return [failed(`${place} cannot be reached (${problem}).`, 'Start it, or correct REDIS_URL.')];
  } finally {
    redis.disconnect();
  }
};
