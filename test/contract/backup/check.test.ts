import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { BackupFolder } from '../../../src/app/backup/folder.ts';
import { restore } from '../../../src/app/backup/restore.ts';
import type { Manifest } from '../../../src/app/backup/manifest.ts';
import { AesGcmSealer } from '../../../src/adapters/system/secrets.ts';
import { StoreHome, secretKey } from '../../support/backup/store-home.ts';
import { plantTree } from '../../support/planted-tree.ts';
import { fillSealed, sealedBesides } from '../../support/sealed-rows.ts';
import { openDatabase } from '../../support/servers/databases.ts';
import type { Settings } from '../../support/service/service-process.ts';

const otherKey = 'f04b7d9e1c5a28637be0d1f8a94c3e52';
const keyId = new AesGcmSealer(Buffer.from(secretKey)).keyIds[0];
const site = {
  'index.html': 'birds '.repeat(100),
  'img/rex.jpg': 'a photo of Rex',
  'same.txt': 'a photo of Rex',
};

let store: StoreHome;
let deployId: string;
const hosts = 3;
beforeAll(async () => {
  store = await StoreHome.open();
  deployId = await store.publish(site);
  const database = openDatabase(store.home.settings['DATABASE_URL'] ?? '');
  await fillSealed(database, new AesGcmSealer(Buffer.from(secretKey)), hosts);
  await database.close();
});
afterAll(() => store.close());

const backUp = () => store.told<{ newDeploys: number }>(['backup', store.backups]);
const filesIn = async (folder: string): Promise<readonly string[]> => {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
};
const folderOf = (id: string, backups = store.backups): string => join(backups, 'deploys', id);
const photoIn = (folder: string): string =>
  join(folder, createHash('sha256').update(site['img/rex.jpg']).digest('base64url'));
const flipByte = async (path: string, at: number) => {
  const file = await open(path, 'r+');
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Buffer.from([buffer.readUInt8() ^ 1]), 0, 1, at);
  await file.close();
};
const manifest = async (): Promise<Manifest> => {
  const found = await new BackupFolder(store.backups).manifest();
  if (!found) throw new Error('there is no manifest');
  return found;
};
const tell = async (change: (known: Manifest) => object) => {
  const folder = new BackupFolder(store.backups);
  const known = await manifest();
  await folder.begin();
  await folder.publish({ ...known, ...change(known) });
};

describe('a check of a backup', () => {
  beforeEach(async () => {
    await rm(store.backups, { recursive: true, force: true });
    await mkdir(store.backups, { mode: 0o755 });
    await backUp();
  });

  test('finds nothing wrong with a new backup, whose files only their owner can read', async () => {
    const madeAt = new Date((await manifest()).madeAt);
    expect(await store.backupTimes()).toMatchObject({ made: madeAt });
    expect(await store.check()).toEqual({ code: 0, found: [] });
    expect(await store.backupTimes()).toMatchObject({ made: madeAt, checked: madeAt });
    const text = await store.run(['backup', 'check', store.backups]);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(/All checks passed\.\n$/);
    for (const path of await filesIn(store.backups)) {
      expect([path, (await stat(path)).mode & 0o777]).toEqual([path, 0o600]);
      expect((await readFile(path, 'latin1')).includes(secretKey)).toBe(false);
    }
    expect((await stat(store.backups)).mode & 0o777).toBe(0o700);
    for (const one of await readdir(store.backups, { recursive: true, withFileTypes: true })) {
      if (!one.isDirectory()) continue;
      expect((await stat(join(one.parentPath, one.name))).mode & 0o777).toBe(0o700);
    }
  });

  test('names a file with a flipped byte, and the next backup repairs it', async () => {
    const path = photoIn(folderOf(deployId));
    await flipByte(path, 3);
    expect(await store.check()).toEqual({
      code: 1,
      found: [`failed: Deploy ${deployId}: same.txt was changed.`],
    });
    const { made, checked } = await store.backupTimes();
    expect(checked).not.toEqual(made);
    await rm(path);
    expect((await store.check()).found).toEqual([
      expect.stringContaining(`Deploy ${deployId}: same.txt cannot be read (ENOENT`),
    ]);
    await rm(folderOf(deployId), { recursive: true });
    expect((await store.check()).found).toEqual([
      `failed: Deploy ${deployId}: its files are missing.`,
    ]);
    expect(await backUp()).toMatchObject({ newDeploys: 1 });
    expect(await store.check()).toEqual({ code: 0, found: [] });
  });

  test('finds rows that refer to missing rows', async () => {
    store.change(`pragma foreign_keys = off; update people set account_id = 'gone ' || account_id`);
    await backUp();
    expect((await store.check()).found).toContain(
      'failed: The copy of the database: a row of people refers to no row.',
    );
    store.change(`update people set account_id = substr(account_id, 6)`);
  });

  test('finds a compressed form or a list of files that differs from the original', async () => {
    const folder = folderOf(deployId);
    const compressed = (await readdir(folder)).find((name) => name.endsWith('.br')) ?? '';
    await flipByte(join(folder, compressed), 3);
    const changed = `failed: Deploy ${deployId}: it is not what was backed up.`;
    expect(await store.check()).toEqual({ code: 1, found: [changed] });
    await flipByte(join(folder, compressed), 3);
    const list = await readFile(join(folder, 'manifest.json'), 'utf8');
    await writeFile(join(folder, 'manifest.json'), list.replace('rex.jpg', 'evil.js'));
    expect(await store.check()).toEqual({ code: 1, found: [changed] });
    const odd = JSON.stringify([{ path: 'index.html', bytes: 4, hash: '../../../evil' }]);
    await writeFile(join(folder, 'manifest.json'), odd);
    expect((await store.check()).found).toEqual([
      expect.stringContaining('index.html cannot be read (no file is stored as ../../../evil'),
    ]);
    await writeFile(join(folder, 'manifest.json'), '[');
    expect((await store.check()).found).toEqual([
      expect.stringContaining('the list of its files cannot be read'),
    ]);
    await rm(folder, { recursive: true });
  });

  test('names a deploy that is in the database but not in the backup', async () => {
    await tell(() => ({ deploys: {} }));
    expect(await store.check()).toEqual({
      code: 1,
      found: [`failed: The copy of the database: deploy ${deployId} is not in the backup.`],
    });
  });

  test.each([
    ['a file outside', { files: { '../outside': 'evil' } }],
    ['another secret key', { files: { 'secret.key': 'evil' } }],
    ['a deploy outside', { deploys: { '../../x': 'a'.repeat(64) } }],
  ])(
    'finds a file that no backup writes, and a restore does not write it: %s',
    async (name, change) => {
      await tell(() => change);
      const unknown = expect.stringContaining('has content that this version never writes');
      const { code, found } = await store.check();
      expect([code, found]).toEqual([1, [unknown]]);
      const machine = store.anotherMachine(name);
      const restored = await store.run(['restore', store.backups], machine);
      expect([restored.code, restored.stderr]).toEqual([1, unknown]);
      await expect(stat(machine['DATA_DIR']!)).rejects.toThrow('ENOENT');
      await rm(join(store.backups, 'manifest.json'));
    },
  );

  test("finds missing rows and migrations, and ones that differ from the backup's manifest", async () => {
    const { migrations, rows } = (await manifest()).database;
    const [first = '', ...others] = migrations;
    await tell(({ database }) => ({
      database: {
        ...database,
        rows: { ...rows, accounts: 3 },
        migrations: ['0000-earlier', ...others],
      },
    }));
    const { code, found } = await store.check();
    expect(code).toBe(1);
    expect(found).toEqual([
      'failed: The copy of the database: accounts has 2 rows instead of 3.',
      `failed: The copy of the database: migration ${first} is not in the manifest.`,
      'failed: The copy of the database: migration 0000-earlier is missing.',
    ]);
  });

  test('finds a damaged copy of the database, and a restore refuses that copy before it writes anything', async () => {
    const path = new BackupFolder(store.backups).copyOf(await manifest());
    await flipByte(path, 5_000);
    const { code, found } = await store.check();
    expect([code, found]).toEqual([1, [`failed: The copy of the database: ${path} was changed.`]]);
    const machine = store.anotherMachine('damaged');
    expect(await store.run(['restore', store.backups], machine)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('was changed. Restore an older backup.'),
    });
    await expect(stat(machine['DATA_DIR']!)).rejects.toThrow('ENOENT');
  });

  test('needs no other database for SQLite, and accepts only MySQL for a MySQL backup', async () => {
    const into = (url: string) => store.run(['backup', 'check', store.backups, '--into', url]);
    expect(await into('mysql://127.0.0.1:1/store')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--into is for backups of MySQL'),
    });
    const { code, stderr } = await into('sqlite:/tmp/secret-place');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--into must be mysql://user:')]);
    expect(stderr).not.toContain('secret-place');
  });

  test('reports, like a restore, that the key of the local authority is encrypted under another key', async () => {
    const key = join(store.dataDir, 'local-ca.key');
    const purpose = 'local certificate authority';
    await writeFile(key, new AesGcmSealer(Buffer.from(otherKey)).seal('{}', purpose));
    await backUp();
    await rm(key);
    expect(await store.check()).toEqual({
      code: 1,
      found: [expect.stringContaining('local-ca.key, the key of the local certificate authority')],
    });
    const rotated = { SECRET_KEY_PREVIOUS: otherKey };
    expect(await store.check(rotated)).toEqual({ code: 0, found: [] });
    const machine = store.anotherMachine('another local key');
    const restored = await store.told<object>(['restore', store.backups], machine);
    expect(restored).toMatchObject({ missingKeys: expect.stringContaining('local-ca.key') });
  });

  test('reports a missing manifest', async () => {
    await rm(join(store.backups, 'manifest.json'));
    const { code, found } = await store.check();
    expect([code, found[0]]).toEqual([1, expect.stringContaining('there is no manifest.json')]);
    expect(await store.run(['restore', store.backups], store.anotherMachine('none'))).toMatchObject(
      { code: 1 },
    );
    await backUp();
    expect(await store.check()).toEqual({ code: 0, found: [] });
  });

  test('names the secret key that is needed, and so does a restore', async () => {
    const machine = store.anotherMachine('another key');
    const { code, found } = await store.check({ SECRET_KEY: otherKey });
    expect([code, found.length]).toEqual([1, 1]);
    expect(found[0]).toContain(
      `${hosts + sealedBesides} encrypted values, certificates among them, need the secret key with the id ${keyId}`,
    );
    const rotated = { SECRET_KEY: otherKey, SECRET_KEY_PREVIOUS: secretKey };
    expect(await store.check(rotated)).toEqual({ code: 0, found: [] });
    const restored = await store.told<{ missingKeys?: string }>(['restore', store.backups], {
      ...machine,
      SECRET_KEY: otherKey,
    });
    expect(restored.missingKeys).toContain(keyId);
  });

  test('warns of an older schema, which the first start after a restore upgrades', async () => {
    const later = `export const up = (db) => db.schema.createTable('later').addColumn('id', 'integer').execute();`;
    const table = 'src/adapters/kysely/migrations.ts';
    const known = await readFile(table, 'utf8');
    const newer = await plantTree(['src', 'db', 'package.json'], {
      'db/migrations/0002-later.ts': later,
      [table]: known
        .replace(
          /^import .*0001.*$/m,
          "$&\nimport * as later from '../../../db/migrations/0002-later.ts';",
        )
        .replace(/'0001-foundation': .*$/m, "$&\n  '0002-later': later as never,"),
    });
    const machine = store.anotherMachine('older');
    const env = { ...process.env, ...store.home.settings, ...store.settings };
    const run = (args: readonly string[], more = {}) =>
      promisify(execFile)(process.execPath, [join(newer.folder, 'src/main.ts'), ...args], {
        env: { ...env, ...more },
      });
    const { stdout } = await run(['backup', 'check', store.backups]);
    expect(stdout).toMatch(/Its schema is older: 0002-later-\w{8} is missing\./);
    expect(stdout).toMatch(/All checks passed\.\n$/);
    const { stdout: made } = await run(['backup', join(store.folder, 'older')]);
    expect(made).toMatch(/schema: +0001-foundation-\w{8}, older than this version/);
    const restored = await run(['restore', store.backups], machine);
    expect(restored.stdout).toContain('Its schema is older: the next start applies 0002-later-');
    expect((await run(['account', 'list'], machine)).stdout).toContain('Zoo');
    expect((await store.run(['account', 'list'], machine)).stderr).toContain('0002-later');
    await newer.remove();
  });

  test('refuses a newer schema, as a restore does', async () => {
    store.change(`insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00.000Z')`);
    await backUp();
    store.change(`delete from kysely_migration where name = '9999-later'`);
    const { code, found } = await store.check();
    expect([code, found]).toEqual([1, [expect.stringContaining('9999-later is not known here')]]);
    const machine = store.anotherMachine('newer');
    const { code: refused, stderr } = await store.run(['restore', store.backups], machine);
    expect([refused, stderr]).toEqual([
      1,
      expect.stringContaining('Install that version or a newer one'),
    ]);
    await expect(stat(machine['DATA_DIR']!)).rejects.toThrow('ENOENT');
  });
});

describe('a restore', () => {
  beforeAll(() => backUp());

  test('refuses a data folder that holds anything but the secret key, and another kind of database', async () => {
    const machine = store.anotherMachine('used');
    const dataDir = machine['DATA_DIR']!;
    await mkdir(join(dataDir, 'deploys', 'dep_of_others'), { recursive: true });
    await writeFile(join(dataDir, 'notes.txt'), 'mine');
    const used = await store.run(['restore', store.backups], machine);
    expect([used.code, used.stderr]).toEqual([
      1,
      expect.stringContaining('it has deploys, notes.txt'),
    ]);
    expect(await readdir(dataDir)).toEqual(['deploys', 'notes.txt']);
    await rm(dataDir, { recursive: true });
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'secret.key'), secretKey);
    const mysql = { DATABASE_URL: 'mysql://127.0.0.1:1/store' };
    const other = await store.run(['restore', store.backups], { ...machine, ...mysql });
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining('a database for sqlite: URLs'),
    ]);
    expect(
      await store.run(['restore', store.backups], { ...machine, SECRET_KEY: '' }),
    ).toMatchObject({ code: 0 });
  });

  test('refuses the data folder of a running service', async () => {
    const service = await store.home.start({ SECRET_KEY: secretKey, ROLES: 'api' });
    for (const settings of [{}, { DATABASE_URL: `sqlite:${join(store.folder, 'empty.db')}` }]) {
      const { code, stderr } = await store.run(['restore', store.backups], settings);
      expect([code, stderr]).toEqual([1, expect.stringContaining('is in use or not empty')]);
    }
    expect((await fetch(`${service.origin}/readyz`)).status).toBe(200);
    await service.end('SIGTERM');
  });

  const interrupt = async (machine: Settings) => {
    const interrupted = restore(store.config(machine), store.backups, () => {
      throw new Error('interrupted');
    });
    await expect(interrupted).rejects.toThrow('interrupted');
  };

  test('works in the home folder of its user, where commands cache compiled code, and can be resumed there', async () => {
    const machine = store.anotherMachine('home');
    const dataDir = machine['DATA_DIR']!;
    const kept = ['.cache', 'backup-cache', 'lost+found'];
    for (const name of kept) await mkdir(join(dataDir, name), { recursive: true });
    await writeFile(join(dataDir, 'secret.key'), secretKey);
    await interrupt(machine);
    const atHome = { ...process.env, ...store.settings, ...machine, SECRET_KEY: '', HOME: dataDir };
    const program = join(import.meta.dirname, '../../../bin/animal-store.cjs');
    const env = { ...atHome, XDG_CACHE_HOME: '' };
    const run = (args: readonly string[]) =>
      promisify(execFile)(process.execPath, [program, ...args], { env });
    await run(['backup', 'check', store.backups]);
    expect(await readdir(join(dataDir, '.cache'))).toEqual(['animal-store']);
    await run(['restore', store.backups]);
    const restored = ['animal-store.db', 'deploys', 'secret.key'];
    expect((await readdir(dataDir)).sort()).toEqual([...kept, ...restored].sort());
  });

  test('that was interrupted blocks services, commands and restores of other backups in the same folder', async () => {
    const machine = store.anotherMachine('interrupted');
    await interrupt(machine);
    for (const args of [['serve'], ['migrate'], ['account', 'list']]) {
      const { code, stderr } = await store.run(args, machine);
      expect([code, stderr]).toEqual([1, expect.stringContaining('restore again: it continues')]);
    }
    const two = await store.run(['serve'], { ...machine, ROLES: 'edge', PROCESSES: '2' });
    expect([two.code, two.stderr]).toEqual([1, expect.stringContaining('restore-unfinished')]);
    expect(await readdir(machine['DATA_DIR']!)).toEqual(['restore-unfinished']);
    const begun = `${store.backups} begun`;
    await cp(store.backups, begun, { recursive: true });
    await backUp();
    expect(await store.run(['restore', store.backups], machine)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The restore of another backup into'),
    });
    await store.told(['restore', begun], machine);
    expect(await store.told(['account', 'list'], machine)).toHaveLength(2);
  });

  test('restores the key of the local authority, readable by its owner only', async () => {
    const key = join(store.dataDir, 'local-ca.key');
    await writeFile(key, 'sealed for this test');
    await backUp();
    await rm(key);
    const machine = store.anotherMachine('local key');
    await store.told(['restore', store.backups], machine);
    const restored = join(machine['DATA_DIR']!, 'local-ca.key');
    expect(await readFile(restored, 'utf8')).toBe('sealed for this test');
    expect((await stat(restored)).mode & 0o777).toBe(0o600);
    await backUp();
  });

  test('refuses leftover SQLite files, which SQLite would replay into the restored database', async () => {
    const machine = store.anotherMachine('leftovers');
    await mkdir(machine['DATA_DIR']!, { recursive: true });
    await writeFile(join(machine['DATA_DIR']!, 'animal-store.db-wal'), 'old');
    const { code, stderr } = await store.run(['restore', store.backups], machine);
    expect([code, stderr]).toEqual([1, expect.stringContaining('animal-store.db-wal exists')]);
  });

  test('restores everything else when a deploy is damaged, and says so', async () => {
    const other = await store.publish({ 'index.html': 'whole' });
    await backUp();
    const copy = `${store.backups} copy`;
    await cp(store.backups, copy, { recursive: true });
    await flipByte(photoIn(folderOf(deployId, copy)), 0);
    const machine = store.anotherMachine('in part');
    const { code, stdout } = await store.run(['restore', copy, '--json'], machine);
    expect(code).toBe(1);
    expect(Object.keys((JSON.parse(stdout) as { lost: object }).lost)).toEqual([deployId]);
    expect(await readdir(join(machine['DATA_DIR']!, 'deploys'))).toEqual([other]);
    expect(await store.told(['account', 'list'], machine)).toHaveLength(2);
  });
});
