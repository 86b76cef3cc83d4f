import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Database } from '../../src/adapters/kysely/database.ts';
import { migrateUp, migrationStates } from '../../src/adapters/kysely/migrations.ts';
import { databaseKinds, emptyDatabase, type TestDatabase } from '../support/databases.ts';

describe.each(databaseKinds)('migrations on %s', (kind) => {
  let home: TestDatabase;
  beforeAll(async () => {
    home = await emptyDatabase(kind);
  });
  afterAll(() => home.drop());

  test('bring an empty database up to date once, however many processes start at the same time', async () => {
    const rivals = [1, 2, 3].map(() => new Database(home.url));
    const applied = await Promise.all(rivals.map((rival) => migrateUp(rival)));
    expect(applied.flat()).toEqual(['0001-foundation']);
    const [first] = rivals;
    const states = first ? await migrationStates(first) : [];
    expect(states.every((state) => state.executedAt instanceof Date)).toBe(true);
    await Promise.all(rivals.map((rival) => rival.close()));
  });
});
