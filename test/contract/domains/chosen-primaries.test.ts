import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { up } from '../../../db/migrations/0012-chosen-primaries.ts';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import { adoptPrimary } from '../../../src/domains/use-cases/domain-settings.ts';
import type { DomainSettings } from '../../../src/domains/domain/redirects/settings.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { later } from '../../support/accounts.ts';
import {
  liveDomain,
  newHost,
  remove,
  servedProject,
} from '../../support/domains/custom-domains.ts';
import { databaseKinds, openDatabase } from '../../support/servers/databases.ts';
import { openStores, type Stores } from '../../support/stores.ts';

describe.each(databaseKinds)('beside version 1.0.0, in %s', (kind) => {
  let stores: Stores;
  let database: Database;
  let project: Project;
  beforeAll(async () => {
    stores = await openStores(kind, {
      onOpened: (url) => {
        database = openDatabase(url);
      },
    });
  });
  afterAll(async () => {
    await database.close();
    await stores.close();
  });
  beforeEach(async () => {
    project = await servedProject(stores);
  });

  /** As version 1.0.0 stores settings: it knows no other fields, and not the new column. */
  const asBefore = async (primary?: string): Promise<void> => {
    const text = JSON.stringify({ primary, redirects: [] });
    await database.root
      .updateTable('projects')
      .set({ domain_settings: text })
      .where('id', '=', project.id)
      .execute();
  };
  const asNeverStored = async (): Promise<void> => {
    await database.root
      .updateTable('projects')
      .set({ no_primary: null })
      .where('id', '=', project.id)
      .execute();
  };
  const choose = (primary: DomainSettings['primary'], seconds = 0): Promise<DomainSettings> =>
    stores.settings.change(project.id, (settings, { accountId }) => {
      const about = { accountId, projectId: project.id, occurredAt: later(seconds) };
      const told = { ...about, primary: primary ?? '', redirects: 0 };
      const events = [{ type: 'domain_settings_changed' as const, ...told }];
      return { state: { ...settings, primary }, events };
    });
  const primaryNow = async () => (await stores.settings.read(project.id)).primary;

  test('the choice of none outlasts settings that version 1.0.0 writes back', async () => {
    await choose(null);
    await asBefore();
    await liveDomain(stores, project);
    await adoptPrimary({ settings: stores.settings, clock: { now: () => later(9) } })(project.id);
    expect(await primaryNow()).toBeNull();
  });

  test('a primary domain that version 1.0.0 stores after that is the primary one', async () => {
    const { host } = await liveDomain(stores, project);
    await choose(null);
    await asBefore(host);
    expect(await primaryNow()).toBe(host);
  });

  /** As version 1.0.0 leaves it, with the audit log of the changes, and then the upgrade. */
  const upgrade = async (stored?: string): Promise<void> => {
    await asBefore(stored);
    await asNeverStored();
    for (let times = 1; times <= 2; times++) await up(database.root as never);
  };

  test('an owner who took the primary domain away before the upgrade has none by choice', async () => {
    const { host } = await liveDomain(stores, project);
    await choose(host, 10);
    await choose(undefined, 11);
    await choose(undefined, 12);
    await upgrade();
    expect(await primaryNow()).toBeNull();
    await choose(undefined, 13);
    await up(database.root as never);
    expect(await primaryNow()).toBeUndefined();
  });

  test('one who chose it again has it', async () => {
    const { host } = await liveDomain(stores, project);
    for (const [at, primary] of [host, undefined, host].entries()) await choose(primary, 10 + at);
    await upgrade(host);
    expect(await primaryNow()).toBe(host);
    await asBefore();
    expect(await primaryNow()).toBeUndefined();
  });

  test('one whose domains went live together has chosen nothing', async () => {
    for (let count = 1; count <= 2; count++) await liveDomain(stores, project);
    await upgrade();
    expect(await primaryNow()).toBeUndefined();
  });

  test('one whose primary domain was removed has chosen nothing, also after it was added again', async () => {
    const removed = await liveDomain(stores, project, { host: newHost() });
    await choose(removed.host, 10);
    await stores.domains.change(removed.id, remove);
    await choose(undefined, 11);
    await upgrade();
    expect(await primaryNow()).toBeUndefined();
    await liveDomain(stores, project, { host: removed.host, at: later(12) });
    await upgrade();
    expect(await primaryNow()).toBeUndefined();
  });
});
