import { Container } from 'inversify';
import { pino, type Logger } from 'pino';
import { Database } from '../adapters/kysely/database.ts';
import { migrateUp } from '../adapters/kysely/migrations.ts';
import { AsyncActing } from '../adapters/system/system-ports.ts';
import { Acting, type Actor } from '../kernel/ports.ts';
import { makeDataPlaces, refuseHalfRestored } from './data-folder.ts';
import { ConfigKey, LogKey, PreviousSecretKeys, SecretKey } from './keys.ts';
import { onDemand } from './on-demand.ts';
import { loadConfig } from './settings/config.ts';
import type { Config } from './settings/settings.ts';
import { objectStoreIn } from './settings/addresses.ts';
import { previousSecretKeysFor, secretKeyFor } from './settings/secret-key.ts';
import { accessModule } from './wiring/access.ts';
import { authorities } from './wiring/authorities.ts';
import { catalogueModule } from './wiring/catalogue.ts';
import { domainsModule } from './wiring/domains.ts';
import { notificationsModule } from './wiring/notifications.ts';
import { queues } from './wiring/queues.ts';
import { objectStore, sitesModule } from './wiring/sites.ts';
import { system } from './wiring/system.ts';

/**
 * Opens the container and brings the database up to date. Close it with `unbindAllAsync`.
 * @param actor who acts outside of `Acting.run`
 */
export const openContainer = async (
  config: Config,
  log: Logger,
  actor: Actor = 'service',
): Promise<Container> => {
  refuseHalfRestored(config);
  await makeDataPlaces(config);
  const container = new Container();
  container.bind(ConfigKey).toConstantValue(config);
  container.bind(SecretKey).toConstantValue(secretKeyFor(config));
  container.bind(PreviousSecretKeys).toConstantValue(previousSecretKeysFor(config));
  container.bind(LogKey).toConstantValue(log);
  container.bind(Acting).toConstantValue(new AsyncActing(actor));
  container.load(system, queues, ...contexts);
  if (config.roles.length > 0) container.load(...(await onDemand.inbound()).inbound);
  if (config.redisUrl !== undefined) {
    container.load((await onDemand.redis()).redis(config.redisUrl));
  }
  const place = objectStoreIn(config);
  if (place) container.load(objectStore(place, await onDemand.objectStore()));
  await bringUpToDate(config.databaseUrl, log);
  return container;
};

const contexts = [
  catalogueModule,
  accessModule,
  sitesModule,
  domainsModule,
  authorities,
  notificationsModule,
];

export const openForCommand = (): Promise<Container> => {
  const config = { ...loadConfig(process.env), roles: [] };
  return openContainer(config, pino({ level: 'silent' }), 'operator');
};

const bringUpToDate = async (url: string, log: Logger): Promise<void> => {
  const database = new Database(url, { patient: true });
  try {
    const applied = await migrateUp(database);
    if (applied.length > 0) log.info({ migrations: applied }, 'database brought up to date');
  } finally {
    await database.close();
  }
};
