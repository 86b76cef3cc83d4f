import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { KyselyJobLeases } from '../../../src/adapters/kysely/kysely-retention.ts';
import { RecordingTracer } from '../../support/recording-tracer.ts';
import { now } from '../../support/accounts.ts';
import { databaseKinds, type TestDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';

describe.each(databaseKinds)('traced statements on %s', (kind) => {
  const tracer = new RecordingTracer();
  let home: TestDatabase;
  let database: Database;
  let job = 0;
  beforeAll(async () => {
    home = await migratedDatabase(kind);
    database = new Database(home.url, { patient: true, tracer });
  });
  afterAll(async () => {
    await database.close();
    await home.drop();
  });
  beforeEach(() => {
    tracer.steps.length = 0;
    job += 1;
  });

  const values = () => ({ job: `secret-job-${job}`, holder: 'secret-holder', lease_until: 4711n });
  const names = () => tracer.steps.map(({ name }) => name);

  test('record the system, database, operation, table and statement text, but no values', async () => {
    await new KyselyJobLeases(database).hold('secret-job', 'secret-holder', now, now);
    expect(names()).toEqual(['UPDATE job_leases', 'INSERT job_leases']);
    expect(tracer.steps[1]).toEqual({
      name: 'INSERT job_leases',
      kind: 'client',
      facts: {
        'db.system.name': kind,
        'db.namespace': expect.stringMatching(/^[\w.-]+$/),
        ...(kind === 'mysql' && {
          'server.address': '127.0.0.1',
          'server.port': Number(new URL(home.url).port),
        }),
        'db.operation.name': 'INSERT',
        'db.collection.name': 'job_leases',
        'db.query.text': expect.stringMatching(
          /^insert into .job_leases. \(.*\) values \(\?, \?, \?\)$/,
        ),
      },
    });
    expect(JSON.stringify(tracer.steps)).not.toMatch(/secret|4711/);
    const { password } = URL.parse(home.url) ?? { password: '' };
    if (password !== '') expect(JSON.stringify(tracer.steps)).not.toContain(password);
  });

  test('are spans in transactions too, with their commit', async () => {
    await database.transaction((db) => db.insertInto('job_leases').values(values()).execute());
    expect(names()).toEqual(['INSERT job_leases', 'COMMIT']);
    expect(tracer.steps[1]?.facts).toMatchObject({ 'db.operation.name': 'COMMIT' });
  });

  test('are spans even when the statement is compiled once', async () => {
    const read = database.prepare<{ job: string }, { holder: string }>((db, the) =>
      db.selectFrom('job_leases').select('holder').where('job', '=', the('job')),
    );
    const write = database.prepareWrite<ReturnType<typeof values>>((db, the) =>
      db
        .insertInto('job_leases')
        .values({ job: the('job'), holder: the('holder'), lease_until: the('lease_until') }),
    );
    await write(values());
    expect(await read({ job: values().job })).toEqual([{ holder: 'secret-holder' }]);
    await database.transaction(() => read({ job: 'none' }));
    expect(names()).toEqual([
      'INSERT job_leases',
      'SELECT job_leases',
      'SELECT job_leases',
      'COMMIT',
    ]);
    expect(JSON.stringify(tracer.steps)).not.toMatch(/secret|4711/);
  });

  test('that fail are recorded as failed, and nothing of their transaction is stored', async () => {
    const twice = database.transaction(async (db) => {
      for (const one of [values(), values()]) {
        await db.insertInto('job_leases').values(one).execute();
      }
    });
    await expect(twice).rejects.toThrow();
    expect(names()).toEqual(['INSERT job_leases', 'INSERT job_leases']);
    expect(tracer.steps.map(({ failure }) => failure)).toEqual([undefined, expect.any(String)]);
    const stored = database.db.selectFrom('job_leases').selectAll().where('job', '=', values().job);
    expect(await stored.execute()).toEqual([]);
  });
});
