import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals';
import { copiesIn, inspectCopy } from '../../../src/adapters/kysely/copies/database-copies.ts';
import { programFor } from '../../../src/adapters/kysely/copies/mysql-copy.ts';
import { migrateUp } from '../../../src/adapters/kysely/migrations.ts';
import { emptyDatabase, openDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { connectAsAdmin } from '../../support/servers/mysql-admin.ts';
import { mysqlPrograms } from '../../support/servers/mysql-programs.ts';

const environment = { ...process.env };
let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-dumps-'));
  Object.assign(process.env, await mysqlPrograms(), { TMPDIR: folder });
});
afterAll(async () => {
  // The next test file may run in the same process.
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, environment);
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  database = await emptyDatabase('mysql');
});
afterEach(async () => {
  await database.drop();
  await rm(join(folder, 'here'), { force: true });
});

const order = async (statement: string): Promise<void> => {
  const admin = await connectAsAdmin(database.url);
  await admin.order(statement).finally(() => {
    admin.close();
  });
};

const dumpOf = async (...lines: readonly string[]): Promise<string> => {
  const path = join(folder, 'dump');
  await writeFile(path, gzipSync(`${lines.join('\n')}\n`));
  return path;
};
const nothing = () => Promise.resolve();
const restore = async (lines: readonly string[], first: () => Promise<unknown> = nothing) =>
  copiesIn(database.url).restore(await dumpOf(...lines), database.url, first);
const leftovers = async () => (await readdir(folder)).filter((name) => name !== 'dump');

describe('a dump that somebody has changed', () => {
  test.each([
    String.raw`\! touch FILE`,
    'system touch FILE',
    'system touch FILE;',
    String.raw`\T FILE`,
    'tee FILE;',
    String.raw`\. FILE`,
    'source FILE;',
    String.raw`select 1 \! touch FILE`,
    String.raw`select 1; \! touch FILE`,
    String.raw`\P touch FILE`,
    String.raw`\e`,
  ])('cannot run "%s" on this machine', async (line) => {
    process.env['EDITOR'] = `touch ${join(folder, 'here')}; true`;
    const load = restore([line.replace('FILE', join(folder, 'here')), 'select 1;']);
    await expect(load).rejects.toThrow('mariadb failed');
    expect(await leftovers()).toEqual([]);
  });
});

describe('a check of a dump', () => {
  const inspect = async (...lines: readonly string[]) =>
    inspectCopy('mysql', await dumpOf(...lines), database.url);
  /** A database that is not empty refuses a restore. */
  const expectEmpty = () => restore(['select 1;'], () => order('drop table kysely_migration'));

  test('reports the content of the dump, and leaves the database empty', async () => {
    const found = await inspect(
      'drop table kysely_migration;',
      `create table kysely_migration (name varchar(255)); insert into kysely_migration values ('0001-x');`,
      `create table deploys (id int, state varchar(9)); insert into deploys values (7, 'succeeded'), (8, 'failed');`,
    );
    const rows = { deploys: 2, kysely_migration: 1 };
    expect(found).toEqual({ facts: { rows, migrations: ['0001-x'], deploys: ['7'] }, damage: [] });
    await expectEmpty();
  });

  test('says why the dump cannot be loaded, even when much more follows, and leaves the database empty', async () => {
    const rest = Array.from(
      { length: 3_000 },
      (_, at) => `select '${String(Math.sin(at)).repeat(99)}';`,
    );
    const found = await inspect('create table half (id int);', 'this is no statement;', ...rest);
    expect(found).toEqual({ facts: undefined, damage: [expect.stringContaining('ERROR 1064')] });
    await expectEmpty();
  });

  test('does not change a database that is in use', async () => {
    await order('create table pets (id int)');
    await expect(inspect('select 1;')).rejects.toThrow(
      'started to use the database: it has 1 tables',
    );
    await order('drop table pets');
  });
});

describe('a database that is being restored', () => {
  const dump = [
    'create table pets (id int);',
    'drop table kysely_migration;',
    'create table kysely_migration (name varchar(255), timestamp varchar(255));',
  ];

  test('cannot be used by a service or another restore, even before its deploys are restored', async () => {
    const meanwhile = async () => {
      const service = openDatabase(database.url);
      await expect(migrateUp(service)).rejects.toThrow('A restore into this database was not');
      await service.close();
      await expect(restore(dump)).rejects.toThrow(
        'Another restore or move into this database is running',
      );
    };
    await restore(dump, meanwhile);
    await order('insert into pets values (1)');
    await expect(restore(dump)).rejects.toThrow('started to use the database: it has 2 tables');
  });

  test('is left unchanged if somebody starts to use it before or while its deploys are restored', async () => {
    const use = () => order('create table pets (id int) select 7 as id');
    const useInstead = () => order('drop table kysely_migration').then(use);
    await expect(restore(dump, useInstead)).rejects.toThrow(
      'started to use the database: it has 1 tables',
    );
    const first = jest.fn(nothing);
    await expect(restore(dump, first)).rejects.toThrow(
      'started to use the database: it has 1 tables',
    );
    expect(first).not.toHaveBeenCalled();
    await order('delete from pets where id = 7');
  });

  test('is restored from the beginning after a failed restore', async () => {
    await expect(restore([...dump.slice(0, 1), 'no statement;'])).rejects.toThrow('ERROR 1064');
    await restore(dump);
  });
});

describe('a dump', () => {
  const programsThatFirst = async (statement: string): Promise<string> => {
    const bin = await mkdtemp(join(folder, 'bin-'));
    const { hostname, port, pathname } = new URL(database.url);
    const where = `--protocol=TCP -h ${hostname} -P ${port} -u root ${pathname.slice(1)}`;
    const client = programFor('client');
    const script = [
      '#!/bin/sh',
      `[ -e ${bin}/done ] || ${client} --no-defaults ${where} -e "${statement}" || exit 1`,
      `touch ${bin}/done`,
      `exec ${programFor('dump')} "$@"`,
    ];
    await writeFile(join(bin, 'mariadb-dump'), script.join('\n'), { mode: 0o700 });
    return bin;
  };

  const withPrograms = async <T>(toolsDir: string, work: () => Promise<T>): Promise<T> => {
    const { PATH = '' } = process.env;
    process.env['PATH'] = `${toolsDir}:${PATH}`;
    try {
      return await work();
    } finally {
      process.env['PATH'] = PATH;
    }
  };

  test('is made again when a migration runs at its start', async () => {
    const service = openDatabase(database.url);
    await migrateUp(service);
    await service.close();
    const toolsDir = await programsThatFirst(
      `create table late (id int) select 7 as id; insert into kysely_migration values ('9999-late', '')`,
    );
    const copies = await withPrograms(toolsDir, async () => [
      await copiesIn(database.url).copy(database.url, join(toolsDir, 'first'), () => 0),
      await copiesIn(database.url).copy(database.url, join(toolsDir, 'second'), () => 0),
    ]);
    const [first, facts] = copies;
    expect(first).toBe(undefined);
    await rm(toolsDir, { recursive: true });
    expect([facts?.rows['late'], facts?.migrations.at(-1)]).toEqual([1, '9999-late']);
  });

  test('reports the deploys that succeeded, whatever their other columns say', async () => {
    const service = openDatabase(database.url);
    await migrateUp(service);
    await service.close();
    const admin = await connectAsAdmin(database.url);
    await admin.order('set foreign_key_checks = 0');
    await admin.order(`insert into deploys (id, project_id, number, made_by, message, state, started_at) values
      ('dep_1', 'proj_1', 1, 'operator', null, 'succeeded', 1),
      ('dep_2', 'proj_1', 2, 'operator', 'succeeded', 'failed', 1),
      ('dep_3', 'proj_1', 3, 'operator', '(it''s), ''failed''', 'succeeded', 1)`);
    admin.close();
    const copy = join(folder, 'deploys');
    const facts = await copiesIn(database.url).copy(database.url, copy, () => 0);
    await rm(copy);
    expect(facts).toMatchObject({ rows: { deploys: 3 }, deploys: ['dep_1', 'dep_3'] });
  });

  test('of a newer release can be loaded by programs that do not know its first line', async () => {
    const toolsDir = await mkdtemp(join(folder, 'bin-'));
    const client = `#!/bin/sh\ncat > ${toolsDir}/told\n`;
    await writeFile(join(toolsDir, 'mariadb'), client, { mode: 0o700 });
    const copy = await dumpOf(String.raw`/*M!999999\- enable the sandbox mode */ `, 'select 1;');
    await withPrograms(toolsDir, () => copiesIn(database.url).restore(copy, database.url, nothing));
    expect(await readFile(join(toolsDir, 'told'), 'utf8')).toBe('\nselect 1;\n');
    await rm(toolsDir, { recursive: true });
  });
});
