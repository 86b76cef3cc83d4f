import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import * as foundation from '../../db/migrations/0001-foundation.ts';
import * as sitesAndEdge from '../../db/migrations/0002-sites-and-edge.ts';
import { Database } from '../../src/adapters/kysely/database.ts';
import { KyselyOutbox } from '../../src/adapters/kysely/kysely-outbox.ts';
import { KyselyProjects } from '../../src/adapters/kysely/kysely-projects.ts';
import { migrationStates } from '../../src/adapters/kysely/migrations.ts';
import { UuidIds } from '../../src/adapters/system/uuid-ids.ts';
import { databaseKinds, emptyDatabase, type TestDatabase } from '../support/databases.ts';

const main = resolve(import.meta.dirname, '../../src/main.ts');

/** In a process of its own, as an operator or a starting service does it. @returns what it applied */
const migrate = async (url: string): Promise<readonly string[]> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, 'migrate', 'up', '--json'],
    { env: { ...process.env, DATABASE_URL: url } },
  );
  return (JSON.parse(stdout) as { applied: string[] }).applied;
};

/** Brings an empty database to where a release with only this migration left it. */
const foundIn = async (database: Database): Promise<void> => {
  await database.transaction((db) => foundation.up(db as never));
  const { root } = database;
  const history = { name: '0001-foundation', timestamp: '2026-01-01T00:00:00.000Z' };
  await root.schema
    .createTable('kysely_migration')
    .addColumn('name', 'varchar(255)', (c) => c.notNull().primaryKey())
    .addColumn('timestamp', 'varchar(255)', (c) => c.notNull())
    .execute();
  await root
    .insertInto('kysely_migration' as never)
    .values(history)
    .execute();
};

const account = {
  id: 'acct_1',
  name: 'Zoo',
  email: 'zoo@shop.example',
  plan: 'free',
  created_at: 0n,
};

/** As that release does it. */
const addProject = async ({ root }: Database, slug: string): Promise<void> => {
  const row = { id: `proj_${slug}`, account_id: account.id, name: slug, slug, created_at: 0n };
  await root.insertInto('projects').values(row).execute();
};

const projectsIn = async (database: Database): Promise<readonly string[]> => {
  const outbox = new KyselyOutbox(
    database,
    new UuidIds(),
    () => [],
    () => undefined,
  );
  const projects = new KyselyProjects(database, outbox);
  const sites = (await projects.list(account.id)).map(({ slug }) => projects.find(slug));
  return (await Promise.all(sites)).map((site) => {
    expect(site).toMatchObject({ deploys: [], servedDeployId: undefined });
    return site?.project.name ?? '';
  });
};

describe.each(databaseKinds)('migrations on %s', (kind) => {
  let home: TestDatabase;
  beforeAll(async () => {
    home = await emptyDatabase(kind);
  });
  afterAll(() => home.drop());

  test('bring an empty database up to date once, however many processes start at the same time', async () => {
    const applied = await Promise.all([1, 2, 3].map(() => migrate(home.url)));
    const database = new Database(home.url);
    const states = await migrationStates(database);
    await database.close();
    expect(applied.flat()).toEqual(states.map((state) => state.name));
    expect(states.every((state) => state.executedAt instanceof Date)).toBe(true);
  });
});

describe.each(databaseKinds)('a database of the release before, on %s,', (kind) => {
  let home: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    home = await emptyDatabase(kind);
    database = new Database(home.url);
    await foundIn(database);
    await database.root.insertInto('accounts').values(account).execute();
    await addProject(database, 'birds');
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });

  test('keeps its projects, and takes new ones from that release while it still serves', async () => {
    expect(await migrate(home.url)).toEqual(['0002-sites-and-edge']);
    await addProject(database, 'cats');
    expect(await projectsIn(database)).toEqual(['birds', 'cats']);
  });
});

test('on mysql, where a migration that was cut off begins anew, all of it can be done twice', async () => {
  const home = await emptyDatabase('mysql');
  const database = new Database(home.url);
  await foundIn(database);
  await sitesAndEdge.up(database.root as never);
  await database.root.updateTable('edge_revision').set({ revision: 7n }).execute();
  expect(await migrate(home.url)).toEqual(['0002-sites-and-edge']);
  const revisions = await database.root.selectFrom('edge_revision').selectAll().execute();
  expect(revisions).toEqual([{ id: 1n, revision: 7n }]);
  await database.close();
  await home.drop();
});
