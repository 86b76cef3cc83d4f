import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  backupTimes,
  rememberBackup,
} from '../../../src/adapters/kysely/copies/database-copies.ts';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import { judgeBackups } from '../../../src/app/doctor/check-database.ts';
import { databaseKinds, openDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';

const hour = 3_600_000;
const now = new SystemClock().now();
const ago = (hours: number): Date => new Date(now.getTime() - hours * hour);

describe.each(databaseKinds)('the backup times that %s stores', (kind) => {
  let home: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    home = await migratedDatabase(kind);
    database = openDatabase(home.url);
  });
  afterAll(async () => {
    await database.close();
    await home.drop();
  });

  test('are those of the newest backup and the newest verified backup', async () => {
    const { since, made, checked } = await backupTimes(database);
    expect([made, checked]).toEqual([undefined, undefined]);
    expect(Math.abs(since.getTime() - now.getTime())).toBeLessThan(hour);
    await rememberBackup(database, 'made', ago(3));
    await rememberBackup(database, 'checked', ago(3));
    await rememberBackup(database, 'made', ago(1));
    await rememberBackup(database, 'checked', ago(9));
    expect(await backupTimes(database)).toEqual({ since, made: ago(1), checked: ago(3) });
  });

  test('are corrected by the next backup when an earlier one ran with a fast clock', async () => {
    await rememberBackup(database, 'made', ago(-99));
    await rememberBackup(database, 'made', now);
    expect((await backupTimes(database)).made).toEqual(now);
  });
});

const judged = (since: number, made?: number, checked?: number) => {
  const moment = (hours: number | undefined) => (hours === undefined ? undefined : ago(hours));
  const times = { since: ago(since), made: moment(made), checked: moment(checked) };
  return judgeBackups(times, now).map(({ state, seen }) => [state, seen.slice(0, 18)]);
};

test.each([
  [[25], 'ok', 'No backup of this '],
  [[27], 'warning', 'No backup of this '],
  [[99, 25], 'warning', 'The last backup is'],
  [[99, 27, 27], 'warning', 'The last backup is'],
  [[99, 1, 27], 'warning', 'The last backup is'],
  [[99, 1, 25], 'ok', 'The last backup is'],
] as const)('doctor reports backups with these ages in hours: %j %s', (ages, state, seen) => {
  const [since, made, checked] = ages;
  expect(judged(since, made, checked)).toEqual([[state, seen]]);
});
