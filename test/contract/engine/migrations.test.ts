import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as sitesAndEdge from '../../../db/migrations/0002-sites-and-edge.ts';
import * as customDomains from '../../../db/migrations/0003-custom-domains.ts';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import { KyselyEdgeRecords } from '../../../src/adapters/kysely/sites/kysely-edge-records.ts';
import { KyselyProjectSettings } from '../../../src/adapters/kysely/sites/kysely-project-settings.ts';
import { KyselyProjects } from '../../../src/adapters/kysely/sites/kysely-projects.ts';
import { migrationStates } from '../../../src/adapters/kysely/migrations.ts';
import { SettableClock } from '../../memory/settable-clock.ts';
import {
  databaseKinds,
  emptyDatabase,
  openDatabase,
  type TestDatabase,
} from '../../support/servers/databases.ts';
import {
  account,
  foundIn,
  migrate,
  migrateInProcess,
  namesFrom,
  outboxOf,
  releases,
} from '../../support/earlier-release.ts';
import { testSealer } from '../../support/stores.ts';

/** As that release does it. */
const addProject = async ({ root }: Database, slug: string): Promise<void> => {
  const row = { id: `proj_${slug}`, account_id: account.id, name: slug, slug, created_at: 0n };
  await root.insertInto('projects').values(row).execute();
};

const routeOf = (slug: string) => {
  return { name: slug, projectId: `proj_${slug}`, kind: 'site', deployId: `dep_${slug}` };
};

/** As that release does it. */
const addRoute = async ({ root }: Database, slug: string, revision: bigint): Promise<void> => {
  const route = { name: slug, project_id: `proj_${slug}`, deploy_id: `dep_${slug}`, revision };
  await root.insertInto('routes').values(route).execute();
  await root.updateTable('edge_revision').set({ revision }).execute();
};

const projectsIn = async (database: Database): Promise<readonly string[]> => {
  const projects = new KyselyProjects(database, outboxOf(database));
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
    const applied = await Promise.all([1, 2, 3].map(() => migrateInProcess(home.url)));
    const database = openDatabase(home.url);
    const states = await migrationStates(database);
    await database.close();
    expect(applied.flat()).toEqual(states.map((state) => state.name));
    expect(states.every((state) => state.executedAt instanceof Date)).toBe(true);
  });
});

describe.each(databaseKinds)('a database of an earlier release, on %s,', (kind) => {
  let home: TestDatabase;
  let database: Database;
  const foundAfter = async (count: number): Promise<void> => {
    await foundIn(database, count);
    await database.root.insertInto('accounts').values(account).execute();
    await addProject(database, 'birds');
  };
  beforeEach(async () => {
    home = await emptyDatabase(kind);
    database = openDatabase(home.url);
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });

  test.each(releases.slice(0, -1).map(({ name }, at) => [name, at + 1] as const))(
    'up to %s, keeps its projects, and accepts new ones from the earlier release that still serves',
    async (_, count) => {
      await foundAfter(count);
      expect(await migrate(home.url)).toEqual(namesFrom(count));
      await addProject(database, 'cats');
      expect(await projectsIn(database)).toEqual(['birds', 'cats']);
    },
  );

  test('keeps serving its sites, and accepts new routes from the earlier release that still serves', async () => {
    await foundAfter(2);
    await addRoute(database, 'birds', 1n);
    expect(await migrate(home.url)).toEqual(namesFrom(2));
    await addRoute(database, 'cats', 2n);
    const edgeRecords = new KyselyEdgeRecords(database, testSealer);
    const { routes } = await edgeRecords.changesSince(0n);
    expect(routes).toEqual(['birds', 'cats'].map(routeOf));
    const clock = new SettableClock(new Date(0));
    const settings = new KyselyProjectSettings(database, outboxOf(database), clock);
    expect(await settings.read('proj_birds')).toEqual({ primary: undefined, redirects: [] });
  });
});

describe('on mysql, where an interrupted migration starts over, each step can be repeated:', () => {
  let home: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    home = await emptyDatabase('mysql');
    database = openDatabase(home.url);
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });

  test('the revision of the edges stays as it is', async () => {
    await foundIn(database, 1);
    await sitesAndEdge.up(database.root as never);
    await database.root.updateTable('edge_revision').set({ revision: 7n }).execute();
    expect(await migrate(home.url)).toEqual(namesFrom(1));
    const revisions = await database.root.selectFrom('edge_revision').selectAll().execute();
    expect(revisions).toEqual([{ id: 1n, revision: 7n, public_port: null }]);
  });

  test('there is but one turn at the authority', async () => {
    await foundIn(database, 2);
    await customDomains.up(database.root as never);
    expect(await migrate(home.url)).toEqual(namesFrom(2));
    const turns = await database.root.selectFrom('authority_turn').selectAll().execute();
    expect(turns).toEqual([{ id: 1n, turn: 0n }]);
  });
});
