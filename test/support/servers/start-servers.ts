import { startMariaDb, type MariaDb } from './mariadb.ts';
import { startRedis, type RedisServer } from './redis.ts';

declare global {
  var mariaDb: MariaDb | undefined;
  var redisServer: RedisServer | undefined;
}

/** One private server of each kind for the whole run, unless TEST_MYSQL_URL or TEST_REDIS_URL names another. */
export default async function startServers(): Promise<void> {
  await Promise.all([provideMariaDb(), provideRedis()]);
}

const provideMariaDb = async (): Promise<void> => {
  if (process.env['TEST_MYSQL_URL']) return;
  globalThis.mariaDb = await startMariaDb();
  process.env['TEST_MYSQL_URL'] = globalThis.mariaDb.url;
};

const provideRedis = async (): Promise<void> => {
  if (process.env['TEST_REDIS_URL']) return;
  globalThis.redisServer = await startRedis();
  process.env['TEST_REDIS_URL'] = globalThis.redisServer.url;
};
