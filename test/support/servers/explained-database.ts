import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { RecordingTracer } from '../recording-tracer.ts';
import type { DatabaseKind, TestDatabase } from './databases.ts';
import { migratedDatabase } from './migrated-database.ts';
import { openDirectly, type ManyRows } from './query-plans.ts';

/** A database with these rows, for one suite, and how the statements of each test read it. */
export const explainedDatabase = (kind: DatabaseKind, tables: readonly ManyRows[]) => {
  let home: TestDatabase;
  let database: Database;
  let direct: Awaited<ReturnType<typeof openDirectly>>;
  const tracer = new RecordingTracer();
  beforeAll(async () => {
    home = await migratedDatabase(kind);
    database = new Database(home.url, { patient: true, tracer });
    direct = await openDirectly(kind, home.url);
    for (const rows of tables) await direct.store(rows);
  });
  afterAll(async () => {
    await direct.close();
    await database.close();
    await home.drop();
  });
  beforeEach(() => {
    tracer.steps.length = 0;
  });
  return {
    get database() {
      return database;
    },
    /** Each step of the plans of all statements since the test began. @param value of all their parameters */
    steps: async (value?: string): Promise<readonly string[]> => {
      const texts = tracer.steps.flatMap(({ facts }) => String(facts['db.query.text'] ?? []));
      return (await Promise.all(texts.map((text) => direct.explain(text, value)))).flat();
    },
  };
};
