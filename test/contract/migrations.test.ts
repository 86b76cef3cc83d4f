import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { Database } from '../../src/adapters/kysely/database.ts';
import { migrationStates } from '../../src/adapters/kysely/migrations.ts';
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
