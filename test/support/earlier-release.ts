import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import * as foundation from '../../db/migrations/0001-foundation.ts';
import * as sitesAndEdge from '../../db/migrations/0002-sites-and-edge.ts';
import * as customDomains from '../../db/migrations/0003-custom-domains.ts';
import * as peopleAndSessions from '../../db/migrations/0004-people-and-sessions.ts';
import * as auditLogSearch from '../../db/migrations/0005-audit-log-search.ts';
import * as jobLeases from '../../db/migrations/0006-job-leases.ts';
import * as accountShares from '../../db/migrations/0007-account-shares.ts';
import * as boundedTimelines from '../../db/migrations/0008-bounded-timelines.ts';
import * as peopleOfSeveralAccounts from '../../db/migrations/0009-people-of-several-accounts.ts';
import * as keyIds from '../../db/migrations/0010-key-ids.ts';
import * as deployNumbers from '../../db/migrations/0011-deploy-numbers.ts';
import * as edgePort from '../../db/migrations/0012-edge-port.ts';
import * as askedOrders from '../../db/migrations/0013-asked-orders.ts';
import type { Database } from '../../src/adapters/kysely/database.ts';
import { KyselyOutbox } from '../../src/adapters/kysely/kysely-outbox.ts';
import { migrateUp } from '../../src/adapters/kysely/migrations.ts';
import { AsyncActing } from '../../src/adapters/system/async-acting.ts';
import { UuidIds } from '../../src/adapters/system/uuid-ids.ts';
import { openDatabase } from './servers/databases.ts';

const main = resolve(import.meta.dirname, '../../src/main.ts');

/** Uses separate connections beside those of the earlier release. @returns what it applied */
export const migrate = async (url: string): Promise<readonly string[]> => {
  const database = openDatabase(url);
  return migrateUp(database).finally(() => database.close());
};

/** In a separate process, as an operator or a starting service does it. @returns what it applied */
export const migrateInProcess = async (url: string): Promise<readonly string[]> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, 'migrate', 'up', '--json'],
    { env: { ...process.env, DATABASE_URL: url } },
  );
  return (JSON.parse(stdout) as { applied: string[] }).applied;
};

export const releases = [
  { name: '0001-foundation', up: foundation.up },
  { name: '0002-sites-and-edge', up: sitesAndEdge.up },
  { name: '0003-custom-domains', up: customDomains.up },
  { name: '0004-people-and-sessions', up: peopleAndSessions.up },
  { name: '0005-audit-log-search', up: auditLogSearch.up },
  { name: '0006-job-leases', up: jobLeases.up },
  { name: '0007-account-shares', up: accountShares.up },
  { name: '0008-bounded-timelines', up: boundedTimelines.up },
  { name: '0009-people-of-several-accounts', up: peopleOfSeveralAccounts.up },
  { name: '0010-key-ids', up: keyIds.up },
  { name: '0011-deploy-numbers', up: deployNumbers.up },
  { name: '0012-edge-port', up: edgePort.up },
  { name: '0013-asked-orders', up: askedOrders.up },
] as const;
export const namesFrom = (first: number) => releases.slice(first).map(({ name }) => name);

/** Brings an empty database to where a release with the first so many migrations left it. */
export const foundIn = async (database: Database, count: number): Promise<void> => {
  const { root } = database;
  await root.schema
    .createTable('kysely_migration')
    .addColumn('name', 'varchar(255)', (c) => c.notNull().primaryKey())
    .addColumn('timestamp', 'varchar(255)', (c) => c.notNull())
    .execute();
  for (const { name, up } of releases.slice(0, count)) {
    await database.transaction((db) => up(db as never));
    await root
      .insertInto('kysely_migration' as never)
      .values({ name, timestamp: '2026-01-01T00:00:00.000Z' })
      .execute();
  }
};

/** As a release without people writes one. */
export const account = {
  id: 'acct_1',
  name: 'Zoo',
  email: 'zoo@shop.example',
  plan: 'free',
  created_at: 0n,
};

/** Without subscribers. */
export const outboxOf = (database: Database): KyselyOutbox =>
  new KyselyOutbox(database, {
    ids: new UuidIds(),
    acting: new AsyncActing('operator'),
    subscribersOf: () => [],
    onStored: () => undefined,
  });
