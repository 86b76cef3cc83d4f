import { Container, type ContainerModule } from 'inversify';
import { pino, type Logger } from 'pino';
import { AsyncActing } from '../adapters/system/async-acting.ts';
import { Acting, type Actor } from '../kernel/acting.ts';
import { Database } from '../adapters/kysely/database.ts';
import { migrateUp } from '../adapters/kysely/migrations.ts';
import { loadConfig, type Config } from './settings/config.ts';
import { contexts } from './contexts.module.ts';
import { ConfigKey, LogKey, PreviousSecretKeys, SecretKey } from './keys.ts';
import { metering } from './metering.module.ts';
import { persistence } from './persistence.module.ts';
import { publishing } from './publishing.module.ts';
import { previousSecretKeysFor, secretKeyFor } from './settings/secret-key.ts';
import { system } from './system.module.ts';

/**
 * Everything, wired, on an up-to-date database. `close` with `unbindAllAsync`.
 * @param actor the actor outside of `Acting.run`
 */
export const openContainer = async (
  config: Config,
  log: Logger,
  actor: Actor = 'service',
): Promise<Container> => {
  const container = new Container();
  container.bind(ConfigKey).toConstantValue(config);
  container.bind(SecretKey).toConstantValue(secretKeyFor(config));
  container.bind(PreviousSecretKeys).toConstantValue(previousSecretKeysFor(config));
  container.bind(LogKey).toConstantValue(log);
  container.bind(Acting).toConstantValue(new AsyncActing(actor));
  container.load(persistence, contexts, metering, publishing, system);
  container.load(...(await modulesFor(config)));
  await bringUpToDate(config.databaseUrl, log);
  return container;
};

/** For one short command, which has no role and no log. */
export const openForCommand = (): Promise<Container> => {
  const config = { ...loadConfig(process.env), roles: [] };
  return openContainer(config, pino({ level: 'silent' }), 'operator');
};

/** What the roles and the settings of this process ask for. */
const modulesFor = async ({ roles, redisUrl }: Config): Promise<ContainerModule[]> => [
  ...(roles.length > 0 ? [(await import('./web.module.ts')).web] : []),
  ...(roles.includes('dashboard') ? [(await import('./dashboard.module.ts')).pages] : []),
  ...(roles.includes('edge') ? [(await import('./edge.module.ts')).edge] : []),
  ...(redisUrl === undefined ? [] : [(await import('./redis.module.ts')).redis(redisUrl)]),
];

const bringUpToDate = async (url: string, log: Logger): Promise<void> => {
  const database = new Database(url, { patient: true });
  try {
    const applied = await migrateUp(database);
    if (applied.length > 0) log.info({ migrations: applied }, 'database brought up to date');
  } finally {
    await database.close();
  }
};
