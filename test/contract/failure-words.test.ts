import { expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/adapters/kysely/database.ts';
import { migrationStates } from '../../src/adapters/kysely/migrations.ts';
import { accountNotFound } from '../../src/access/domain/access-error.ts';
import { failureInWords } from '../../src/app/failure-words.ts';
import { Unavailable } from '../../src/kernel/ports.ts';

const failureOf = async (databaseUrl: string): Promise<string> => {
  const open = async () => {
    const database = new Database(databaseUrl);
    try {
      await migrationStates(database);
    } finally {
      await database.close();
    }
  };
  const error: unknown = await open().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return failureInWords(error, { DATABASE_URL: databaseUrl });
};

test('the error about an unusable database names it without its password and says what to do', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-words-'));
  const text = join(folder, 'text.db');
  await writeFile(text, 'no database, but long enough to be looked at '.repeat(30));
  expect(await failureOf(`sqlite:${text}`)).toBe(
    `The database sqlite:${text} is not an SQLite file (SQLITE_NOTADB). Set DATABASE_URL to another file.`,
  );
  expect(await failureOf(`sqlite:${text}/below.db`)).toMatch(
    /below\.db cannot be used \(E\w+\)\. Set DATABASE_URL to a file in a folder that this user can write to\.$/,
  );
  expect(await failureOf('mysql://shop:hunter2@127.0.0.1:1/shop')).toBe(
    'The database mysql://127.0.0.1:1/shop cannot be reached (ECONNREFUSED). Start its server, or correct DATABASE_URL.',
  );
  await rm(folder, { recursive: true });
});

test.each([
  ['ER_ACCESS_DENIED_ERROR', /cannot be used .* Correct user and password in DATABASE_URL\.$/],
  ['ER_BAD_DB_ERROR', /does not exist .* Create it, or correct its name in DATABASE_URL\.$/],
  ['ER_CON_COUNT_ERROR', /cannot be used .* Look at the log of its server\.$/],
  ['ENOTFOUND', /cannot be reached .* Correct the host name in DATABASE_URL\.$/],
])('the advice fits the error code %s', (code, words) => {
  const error = new Unavailable('The database', Object.assign(new Error('of shop'), { code }));
  const DATABASE_URL = 'mysql://shop:hunter2@db.example/shop';
  const shown = failureInWords(error, { DATABASE_URL });
  expect(shown).toMatch(words);
  expect(shown).toContain(`mysql://db.example/shop`);
  expect(shown).not.toContain('hunter2');
});

test('the error about an unusable data folder names the folder, and other errors keep their text', () => {
  const error = Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/srv/var/secret.key' });
  expect(failureInWords(error, { DATA_DIR: '/srv/var' })).toBe(
    '/srv/var cannot be used (EACCES). Set DATA_DIR to a folder that this user can write to.',
  );
  expect(failureInWords(new Error('EACCES'), {})).toBe('EACCES');
  const full = Object.assign(new Error('write'), { code: 'ENOSPC', path: error.path });
  expect(failureInWords(full, { DATA_DIR: '/srv/var' })).toBe(
    '/srv/var cannot be used (ENOSPC). Its disk is full. Free some space, or set DATA_DIR to a folder on another one.',
  );
  expect(failureInWords(full, { DATABASE_URL: 'sqlite:/srv/var/store.db' })).toBe(
    'The database sqlite:/srv/var/store.db cannot be used (ENOSPC). Its disk is full. Free some space.',
  );
  const cause = Object.assign(new Error('Duplicate column'), { code: 'ER_DUP_FIELDNAME' });
  const failed = new Error('migration 0003 failed', { cause });
  expect(failureInWords(failed, {})).toBe('migration 0003 failed: Duplicate column');
});

test('the error about a file that this user cannot use names it and says what to do', () => {
  const said =
    'cannot be used (EACCES). Give this user access to it, or run the command as its owner.';
  const read = Object.assign(new Error('open'), { code: 'EACCES', path: '/backup/manifest.json' });
  expect(failureInWords(read, {})).toBe(`/backup/manifest.json ${said}`);
  const copy = Object.assign(new Error('copyfile'), {
    code: 'EACCES',
    path: '/backup/database.sqlite',
    dest: '/srv/var/store.db.restoring',
  });
  expect(failureInWords(copy, {})).toBe(`/srv/var/store.db.restoring ${said}`);
  expect(failureInWords(copy, { DATABASE_URL: 'sqlite:/srv/var/store.db' })).toMatch(
    /^The database sqlite:\/srv\/var\/store\.db cannot be used \(EACCES\)\. Set DATABASE_URL to /,
  );
});

test('an error message that is complete on its own is not replaced by its cause', () => {
  const cause = Object.assign(new Error('full'), { code: 'SQLITE_FULL' });
  const said = 'The new backup is complete, but the database could not record it.';
  expect(failureInWords(new Error(said, { cause }), {})).toBe(said);
  expect(failureInWords(new Unavailable('The database', cause), {})).toMatch(/ disk is full\./);
});

test('the error about a missing thing suggests the command that lists such things', () => {
  expect(failureInWords(accountNotFound('acct_1'), {})).toBe(
    'There is no account with the id acct_1. Try: ./animal-store account list',
  );
});
