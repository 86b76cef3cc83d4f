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
import {
  copyDatabase,
  restoreDatabase,
  tryCopy,
} from '../../../src/adapters/kysely/copies/database-copies.ts';
import { findProgram } from '../../../src/adapters/kysely/copies/mysql-programs.ts';
import { migrateUp } from '../../../src/adapters/kysely/migrations.ts';
import { emptyDatabase, openDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { connectAsAdmin } from '../../support/servers/mysql-admin.ts';
import { mysqlPrograms } from '../../support/servers/mysql-programs.ts';

const environment = { ...process.env };
let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-dumps-'));
  Object.assign(process.env, await mysqlPrograms('with a server'), { TMPDIR: folder });
});
afterAll(async () => {
  // The next file of tests may have the same process.
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

/** @returns its path */
const dumpOf = async (...lines: readonly string[]): Promise<string> => {
  const path = join(folder, 'dump');
  await writeFile(path, gzipSync(`${lines.join('\n')}\n`));
  return path;
};
const nothing = () => Promise.resolve();
const restore = async (lines: readonly string[], first: () => Promise<unknown> = nothing) =>
  restoreDatabase(await dumpOf(...lines), { url: database.url, toolsDir: undefined }, first);
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

  test('can write no file by the server of a check, which leaves nothing behind', async () => {
    const file = join(folder, 'here');
    const copy = await dumpOf(`select 'mine' into outfile '${file}';`);
    await expect(tryCopy('mysql', copy, undefined)).rejects.toThrow('--secure-file-priv');
    expect(await leftovers()).toEqual([]);
  });
});

describe('a dump that cannot be loaded', () => {
  test('says why, also when much more follows, and leaves nothing behind', async () => {
    const rest = Array.from(
      { length: 3_000 },
      (_, at) => `select '${String(Math.sin(at)).repeat(99)}';`,
    );
    const copy = await dumpOf('this is no statement;', ...rest);
    await expect(tryCopy('mysql', copy, undefined)).rejects.toThrow('ERROR 1064');
    expect(await leftovers()).toEqual([]);
  });
});

describe('a database that is being restored', () => {
  const dump = [
    'create table pets (id int);',
    'drop table kysely_migration;',
    'create table kysely_migration (name varchar(255), timestamp varchar(255));',
  ];

  test('cannot be used by a service or another restore, from before its deploys are put back', async () => {
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
    await expect(restore(dump)).rejects.toThrow('came into use: it has 2 tables');
  });

  test('is left as it is when it came into use before or while its deploys were put back', async () => {
    const use = () => order('create table pets (id int) select 7 as id');
    const useInstead = () => order('drop table kysely_migration').then(use);
    await expect(restore(dump, useInstead)).rejects.toThrow('came into use: it has 1 tables');
    const first = jest.fn(nothing);
    await expect(restore(dump, first)).rejects.toThrow('came into use: it has 1 tables');
    expect(first).not.toHaveBeenCalled();
    await order('delete from pets where id = 7');
  });

  test('is restored from the beginning after a restore that failed', async () => {
    await expect(restore([...dump.slice(0, 1), 'no statement;'])).rejects.toThrow('ERROR 1064');
    await restore(dump);
  });
});

describe('a dump', () => {
  /** Runs a statement once, just before the dump begins. @returns the folder of the programs */
  const programsThatFirst = async (statement: string): Promise<string> => {
    const bin = await mkdtemp(join(folder, 'bin-'));
    const { hostname, port, pathname } = new URL(database.url);
    const where = `--protocol=TCP -h ${hostname} -P ${port} -u root ${pathname.slice(1)}`;
    const client = findProgram('client', undefined) ?? '';
    const script = [
      '#!/bin/sh',
      `[ -e ${bin}/done ] || ${client} --no-defaults ${where} -e "${statement}" || exit 1`,
      `touch ${bin}/done`,
      `exec ${findProgram('dump', undefined) ?? ''} "$@"`,
    ];
    await writeFile(join(bin, 'mariadb-dump'), script.join('\n'), { mode: 0o700 });
    return bin;
  };

  test('has the table of a migration that ran when it began', async () => {
    const service = openDatabase(database.url);
    await migrateUp(service);
    await service.close();
    const toolsDir = await programsThatFirst(
      `create table late (id int) select 7 as id; insert into kysely_migration values ('9999-late', '')`,
    );
    const to = join(toolsDir, 'copy');
    const { rows, migrations } = await copyDatabase({ url: database.url, toolsDir }, to, () => 0);
    await rm(toolsDir, { recursive: true });
    expect([rows['late'], migrations.at(-1)]).toEqual([1, '9999-late']);
  });

  test('of newer programs can be loaded by those that do not know its first line', async () => {
    const toolsDir = await mkdtemp(join(folder, 'bin-'));
    const client = `#!/bin/sh\ncat > ${toolsDir}/told\n`;
    await writeFile(join(toolsDir, 'mariadb'), client, { mode: 0o700 });
    const copy = await dumpOf(String.raw`/*M!999999\- enable the sandbox mode */ `, 'select 1;');
    await restoreDatabase(copy, { url: database.url, toolsDir }, nothing);
    expect(await readFile(join(toolsDir, 'told'), 'utf8')).toBe('\nselect 1;\n');
    await rm(toolsDir, { recursive: true });
  });
});
