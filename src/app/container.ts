import { Container, type ContainerModule } from 'inversify';
import { pino, type Logger } from 'pino';
import { AsyncActing } from '../adapters/system/async-context.ts';
import { Acting, type Actor } from '../kernel/acting.ts';
import { Database } from '../adapters/kysely/database.ts';
import { migrateUp } from '../adapters/kysely/migrations.ts';
import { loadConfig, type Config } from './settings/config.ts';
import { makeDataPlaces } from './data-places.ts';
import { contexts } from './contexts.module.ts';
import { ConfigKey, LogKey, PreviousSecretKeys, SecretKey } from './keys.ts';
import { metering } from './metering.module.ts';
import { notificationsModule } from './notifications.module.ts';
import { persistence } from './persistence.module.ts';
import { objectStoreIn } from './settings/addresses.ts';
import { refuseHalfRestored } from './restore-mark.ts';
import { previousSecretKeysFor, secretKeyFor } from './settings/secret-key.ts';
import { system } from './system.module.ts';

/** What a command is about. */
export interface CommandNeeds {
  /** Whether sites or custom domains. */
  readonly sites: boolean;
}

interface Opening {
  /** The actor outside of `Acting.run`. */
  readonly actor?: Actor;
  /** Of a process without a role. */
  readonly needs?: CommandNeeds;
}

/** Everything, wired, on an up-to-date database. `close` with `unbindAllAsync`. */
export const openContainer = async (
  config: Config,
  log: Logger,
  { actor = 'service', needs = { sites: true } }: Opening = {},
): Promise<Container> => {
  refuseHalfRestored(config);
  await makeDataPlaces(config);
  const container = new Container();
  container.bind(ConfigKey).toConstantValue(config);
  container.bind(SecretKey).toConstantValue(secretKeyFor(config));
  container.bind(PreviousSecretKeys).toConstantValue(previousSecretKeysFor(config));
  container.bind(LogKey).toConstantValue(log);
  container.bind(Acting).toConstantValue(new AsyncActing(actor));
  container.load(persistence, contexts, notificationsModule, metering, system);
  container.load(...(await modulesFor(config, needs)));
  await bringUpToDate(config.databaseUrl, log);
  return container;
};

/** For one short command, which has no role and no log. */
export const openForCommand = (needs: CommandNeeds): Promise<Container> => {
  const config = { ...loadConfig(process.env), roles: [] };
  return openContainer(config, pino({ level: 'silent' }), { actor: 'operator', needs });
};

/** What the roles and the settings of this process ask for. */
const modulesFor = async (config: Config, needs: CommandNeeds): Promise<ContainerModule[]> => {
  const { roles, redisUrl, acmeDnsZone: zone } = config;
  const isCommand = roles.length === 0;
  const changesSites = isCommand
    ? needs.sites
    : roles.includes('dashboard') || roles.includes('worker');
  const hasSites = changesSites || roles.includes('edge');
  return [
    ...(isCommand ? [] : [(await import('./web.module.ts')).web]),
    ...(roles.includes('dashboard') ? [(await import('./dashboard.module.ts')).pages] : []),
    ...(roles.includes('edge') ? [(await import('./edge.module.ts')).edge] : []),
    ...(roles.includes('dns') && zone !== undefined
      ? [(await import('./nameserver.module.ts')).nameServer(zone)]
      : []),
    ...(changesSites ? await siteModules(config) : []),
    ...(hasSites ? [await filesModule(config)] : []),
    ...(redisUrl === undefined ? [] : [(await import('./redis.module.ts')).redis(redisUrl)]),
  ];
};

/** All that changes sites and custom domains, and reacts to what changed. */
const siteModules = async (config: Config): Promise<ContainerModule[]> => {
  const [{ siteContexts }, { publishing, folderUnpacking }, { authorities }] = await Promise.all([
    import('./sites.module.ts'),
    import('./publishing.module.ts'),
    import('./authorities.module.ts'),
  ]);
  const [{ events }, { webhooks }] = await Promise.all([
    import('./events.module.ts'),
    import('./webhooks.module.ts'),
  ]);
  const unpacking = objectStoreIn(config)
    ? (await import('./store-files.module.ts')).storeUnpacking
    : folderUnpacking;
  return [siteContexts, publishing, authorities, unpacking, webhooks, events];
};

const filesModule = async (config: Config): Promise<ContainerModule> => {
  const store = objectStoreIn(config);
  if (!store) return (await import('./site-files.module.ts')).siteFiles;
  const [{ storeFiles }, { importSdk }] = await Promise.all([
    import('./store-files.module.ts'),
    import('../adapters/storage/s3/s3-client.ts'),
  ]);
  // No visitor waits for it. Most short commands do not need it.
  if (config.roles.length > 0) await importSdk();
  return storeFiles(store);
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
