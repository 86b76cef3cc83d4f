import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import fc from 'fast-check';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { AsyncDeadline } from '../../../src/adapters/system/system-ports.ts';
import { migrateUp } from '../../../src/adapters/kysely/migrations.ts';
import { OutOfTime, Unavailable } from '../../../src/kernel/ports.ts';
import { refusal } from '../../support/refusal.ts';
import { emptyDatabase, openDatabase, type TestDatabase } from '../../support/servers/databases.ts';

let home: TestDatabase;
let database: Database;
/** Sees committed data, like another program. */
let observer: SqliteDatabase.Database;
beforeAll(async () => {
  home = await emptyDatabase('sqlite');
  database = new Database(home.url);
  await migrateUp(database);
  observer = new SqliteDatabase(home.url.slice('sqlite:'.length), { readonly: true });
});
afterAll(async () => {
  observer.close();
  await database.close();
  await home.drop();
});
beforeEach(async () => {
  await database.run((db) => db.deleteFrom('quota_counters').execute());
});

/** Keeps a group open for its whole turn of the event loop, however slow the machine is. */
const stopTime = () => jest.spyOn(performance, 'now').mockReturnValue(0);
afterEach(() => {
  jest.restoreAllMocks();
});

const insert = (subject: string, data = '') =>
  database.run((db) =>
    db.insertInto('quota_counters').values({ subject, data, saved_at: 0n }).execute(),
  );
const execute = (statement: string) =>
  database.run((db) => {
    const any = db.selectFrom('accounts').select('id').compile();
    return db.executeQuery({ ...any, sql: statement });
  });
const committed = (): readonly unknown[] =>
  observer.prepare('select subject from quota_counters order by subject').pluck().all();
const names = (count: number) => Array.from({ length: count }, (_, at) => `writer ${at + 100}`);

test('writes in one turn of the event loop are stored together, and none succeeds before all are stored', async () => {
  stopTime();
  const writers = names(32);
  const seen: (readonly unknown[])[] = [];
  const writing = writers.map((name) => database.transaction(() => insert(name)));
  for (const one of writing) void one.then(() => seen.push(committed()));
  await Promise.all(writing);
  expect(seen).toEqual(writers.map(() => writers));
});

test('a write that fails in a group fails alone', async () => {
  stopTime();
  const [writers, failing] = [names(32), [0, 7, 15, 31]];
  await insert('taken');
  const outcomes = await Promise.allSettled(
    writers.map((name, at) =>
      database.transaction(async () => {
        await insert(name);
        if (at === 0 || at === 15) throw refusal;
        if (at === 7 || at === 31) await insert('taken');
      }),
    ),
  );
  expect(committed()).toEqual(['taken', ...writers.filter((_, at) => !failing.includes(at))]);
  const reasons = outcomes.map((one) => (one.status === 'rejected' ? (one.reason as unknown) : ''));
  const duplicate = expect.objectContaining({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
  expect(failing.map((at) => reasons[at])).toEqual([refusal, duplicate, refusal, duplicate]);
  expect(reasons.filter((reason) => reason === '')).toHaveLength(28);
});

test('a write that another write makes invalid is refused only once that one is stored', async () => {
  stopTime();
  const first = database.transaction(() => insert('taken'));
  const seen = insert('taken').catch(() => committed());
  expect(await seen).toEqual(['taken']);
  await first;
});

test('callbacks after a commit run in the order of the writes', async () => {
  stopTime();
  const seen: string[] = [];
  await Promise.all(
    names(3).map((name) =>
      database.transaction(async () => {
        await insert(name);
        database.afterCommit(() => seen.push(`${name} of ${committed().length}`));
      }),
    ),
  );
  expect(seen).toEqual(names(3).map((name) => `${name} of 3`));
});

test('a commit that fails fails every write of its group, and no later write', async () => {
  stopTime();
  const orphan = () =>
    database.transaction(async (db) => {
      await execute('pragma defer_foreign_keys = 1');
      const session = { secret_hash: 'x', person_id: 'nobody', ends_at: 0n, resets_password: 0n };
      await db.insertInto('sign_in_links').values(session).execute();
    });
  const refused = () =>
    database.transaction(() => insert('refused').then(() => Promise.reject(refusal)));
  const outcomes = await Promise.allSettled([insert('a'), orphan(), insert('b'), refused()]);
  for (const outcome of outcomes) {
    expect(outcome).toHaveProperty('reason.code', 'SQLITE_CONSTRAINT_FOREIGNKEY');
  }
  await insert('then');
  expect(committed()).toEqual(['then']);
});

test('a full disk fails every write of a group, and stores nothing of it', async () => {
  stopTime();
  const tooBig = 'x'.repeat(10_000_000);
  await database.transaction(() => execute('pragma max_page_count = 1'));
  const group = [...names(5).map((name) => insert(name)), insert('too big', tooBig)];
  const outcomes = await Promise.allSettled(group);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
  }
  await database.transaction(() => execute('pragma max_page_count = 1000000'));
  await insert('then');
  expect(committed()).toEqual(['then']);
});

test('a write whose deadline passes behind a slow one fails alone', async () => {
  const deadline = new AsyncDeadline(50);
  const hurried = new Database(home.url, { deadline });
  const write = (subject: string) =>
    hurried.run((db) =>
      db.insertInto('quota_counters').values({ subject, data: '', saved_at: 0n }).execute(),
    );
  const over = Promise.withResolvers<undefined>();
  const [before, long, patient] = [
    write('before'),
    hurried.transaction(() => over.promise),
    write('patient'),
  ];
  const late = deadline.during(() => write('hurried'));
  await expect(late).rejects.toThrow(OutOfTime);
  over.resolve(undefined);
  await Promise.all([before, long, patient]);
  await hurried.close();
  expect(committed()).toEqual(['before', 'patient']);
});

test('a process that writes without a pause lets other processes use the file in between', async () => {
  const other = openDatabase(home.url);
  let isOver = false;
  const writing = names(200).map(async (name) => {
    for (let round = 0; !isOver; round++) await insert(`${name} ${round}`);
  });
  await nextTurn();
  try {
    await other.run((db) => db.deleteFrom('idempotency_keys').execute());
  } finally {
    isOver = true;
    await Promise.all(writing);
    await other.close();
  }
});

/** A transaction of two writes, each of which may violate uniqueness, and what happens between them. */
const member = fc.record({
  subjects: fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 40 })),
  startsAfter: fc.integer({ min: 0, max: 2 }),
  lingers: fc.integer({ min: 0, max: 8 }).map((turns) => Math.max(0, turns - 6)),
  ending: fc.constantFrom('done', 'done', 'thrown'),
});

test('exactly the acknowledged writes are stored, whichever writes fail and in whatever order', async () => {
  const wait = async (turns: number) => {
    for (let turn = 0; turn < turns; turn++) await nextTurn();
  };
  const rounds = fc.asyncProperty(fc.array(member, { maxLength: 40 }), async (members) => {
    await database.run((db) => db.deleteFrom('quota_counters').execute());
    const outcomes = await Promise.all(
      members.map(async ({ subjects: [first, second], startsAfter, lingers, ending }) => {
        await wait(startsAfter);
        const subjects = [`subject ${first}`, `subject ${second}`];
        const stored = database.transaction(async () => {
          await insert(subjects[0]!);
          await wait(lingers);
          await insert(subjects[1]!);
          if (ending === 'thrown') throw refusal;
        });
        return stored.then(
          () => {
            expect(committed()).toEqual(expect.arrayContaining(subjects));
            return subjects;
          },
          () => [],
        );
      }),
    );
    const acknowledged = outcomes.flat();
    expect(committed()).toEqual([...acknowledged].sort());
  });
  await fc.assert(rounds, { numRuns: 100 });
});
