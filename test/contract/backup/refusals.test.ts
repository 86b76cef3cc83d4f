import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { StoreHome } from '../../support/backup/store-home.ts';
import type { Settings } from '../../support/service/service-process.ts';

let store: StoreHome;
let wiped: Settings;
beforeAll(async () => {
  store = await StoreHome.open();
  await store.publish({ 'index.html': 'birds '.repeat(100) });
  wiped = store.anotherMachine('wiped');
  await store.told(['migrate'], wiped);
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.told(['backup', store.backups]);
});

const restored = async (name: string) => {
  const machine = store.anotherMachine(name);
  const { lost } = await store.told<{ lost: object }>(['restore', store.backups], machine);
  expect(lost).toEqual({});
  return store.told(['account', 'list'], machine);
};

test('a backup of an emptied database is refused, and the last backup stays', async () => {
  const refused = await store.run(['backup', store.backups], wiped);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('The database has no account, but the last backup'),
  ]);
  expect(await store.check()).toEqual({ code: 0, found: [] });
  expect(await restored('after a refusal')).toMatchObject([{ name: 'Zoo' }]);
});

test('a database without an account can be backed up into another folder', async () => {
  const other = join(store.folder, 'other');
  for (let made = 0; made < 2; made++) await store.told(['backup', other], wiped);
});

test('a damaged manifest is replaced by the next backup', async () => {
  const path = join(store.backups, 'manifest.json');
  const whole = await readFile(path, 'utf8');
  for (const text of [whole.replace(/"madeBy": "./, '"madeBy": "x'), 'damaged']) {
    await writeFile(path, text);
    expect(await store.check()).toEqual({ code: 1, found: ['failed: manifest.json is damaged.'] });
  }
  expect(await store.told(['backup', store.backups])).toMatchObject({ newDeploys: 0 });
  expect(await store.check()).toEqual({ code: 0, found: [] });
});

test('a lock that cannot be opened is named, not the database', async () => {
  const copy = join(store.folder, 'unlocked');
  await mkdir(join(copy, 'lock'), { recursive: true });
  const { code, stderr } = await store.run(['restore', copy], store.anotherMachine('unlocked'));
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${copy}/lock cannot be opened.`)]);
});

test('a damaged database does not overwrite a good backup', async () => {
  const machine = store.anotherMachine('corrupt');
  await store.told(['migrate'], machine);
  store.change(
    `create table marked (a text); create index marks on marked (a); insert into marked values ('marker of a test')`,
  );
  const path = (machine['DATABASE_URL'] ?? '').slice('sqlite:'.length);
  await copyFile((store.home.settings['DATABASE_URL'] ?? '').slice('sqlite:'.length), path);
  store.change('drop table marked');
  const bytes = await readFile(path);
  // Every query still works, but the index no longer matches its table.
  bytes.write('marker of anothe', bytes.lastIndexOf('marker of a test'));
  await writeFile(path, bytes);
  const { code, stderr } = await store.run(['backup', store.backups], machine);
  expect([code, stderr]).toEqual([1, expect.stringContaining('There is no new backup')]);
  expect(await store.check()).toEqual({ code: 0, found: [] });
});

test('a database with a newer schema is backed up, and the backup says so', async () => {
  store.change(`insert into kysely_migration values ('9999-later', '2027-01-01T00:00:00.000Z')`);
  const { code, stdout } = await store.run(['backup', store.backups]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('9999-later, newer than this')]);
  store.change(`delete from kysely_migration where name = '9999-later'`);
});

describe('a folder with a backup of a newer release', () => {
  const folder = () => join(store.folder, 'newer');
  beforeEach(() => store.told(['backup', folder()]));

  /** Only the format number has the same place in every release. */
  const newer = () => JSON.stringify({ format: 2, signature: 'of a newer release', backups: [] });
  const grown = async (path: string) => {
    const { manifest } = JSON.parse(await readFile(path, 'utf8')) as { manifest: object };
    const more = { ...manifest, note: 'of a newer release' };
    const sha256 = createHash('sha256')
      .update(JSON.stringify([more]))
      .digest('hex');
    return JSON.stringify({ format: 1, sha256, manifest: more });
  };

  test.each([
    ['in another format', newer],
    ['with additional fields', grown],
  ])('keeps its manifest unchanged: %s', async (_, textOf) => {
    const path = join(folder(), 'manifest.json');
    const text = await textOf(path);
    await writeFile(path, text);
    const names = await readdir(folder());
    const { code, stderr } = await store.run(['backup', folder()]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('another folder')]);
    for (const args of [['backup', 'check'], ['restore']]) {
      const machine = store.anotherMachine('of a newer release');
      const refused = await store.run([...args, folder()], machine);
      expect([refused.code, refused.stdout + refused.stderr]).toEqual([
        1,
        expect.stringContaining('another folder'),
      ]);
    }
    expect(await readFile(path, 'utf8')).toBe(text);
    expect(await readdir(folder())).toEqual(names);
    await rm(path);
  });
});

test.each(['/proc/x', '/proc/x/y'])(
  'a folder that cannot be created ends the backup with the reason: %s',
  async (folder) => {
    const { code, stderr } = await store.run(['backup', folder]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('The folder /proc/x cannot be created (ENOENT)'),
    ]);
  },
);

test('a file in place of the backup folder contains no backup', async () => {
  const file = join(store.folder, 'file');
  await writeFile(file, '');
  for (const args of [['backup', 'check'], ['restore']]) {
    const { code, stdout, stderr } = await store.run([...args, file]);
    expect([code, stdout + stderr]).toEqual([
      1,
      expect.stringContaining('holds no complete backup'),
    ]);
  }
});

test('an address in place of a folder is refused, and no folder of that name is created', async () => {
  const { code, stderr } = await store.run(['backup', 's3://birds/backups']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('s3://birds/backups is not a folder'),
  ]);
  expect(existsSync('s3:')).toBe(false);
});
