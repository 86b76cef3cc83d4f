import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { StoreHome } from '../../support/backup/store-home.ts';

let store: StoreHome;
beforeAll(async () => {
  store = await StoreHome.open();
});
afterAll(() => store.close());

test('a database of a newer schema is backed up, and the backup says so', async () => {
  store.change(`insert into kysely_migration values ('9999-later', '2027-01-01T00:00:00.000Z')`);
  const { code, stdout } = await store.run(['backup', store.backups]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('9999-later, newer than this')]);
  store.change(`delete from kysely_migration where name = '9999-later'`);
});

describe('a folder with a backup of a newer release', () => {
  const folder = () => join(store.folder, 'newer');
  beforeEach(() => store.told(['backup', folder()]));

  /** Whatever a newer release writes: only the number of its format stays where it is. */
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
    ['of another format', newer],
    ['with more in it', grown],
  ])('keeps its manifest as it is: %s', async (_, textOf) => {
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
  'a folder that cannot be made ends the backup with the reason: %s',
  async (folder) => {
    const { code, stderr } = await store.run(['backup', folder]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('The folder /proc/x cannot be made (ENOENT)'),
    ]);
  },
);

test('a file where a folder belongs holds no backup', async () => {
  const file = join(store.folder, 'file');
  await writeFile(file, '');
  for (const args of [['backup', 'check'], ['restore']]) {
    const { code, stdout, stderr } = await store.run([...args, file]);
    expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('holds no whole backup')]);
  }
});

test('an address where a folder belongs is refused, and makes no folder of that name', async () => {
  const { code, stderr } = await store.run(['backup', 's3://birds/backups']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('s3://birds/backups is not a folder'),
  ]);
  expect(existsSync('s3:')).toBe(false);
});
