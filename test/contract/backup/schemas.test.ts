import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
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
  beforeEach(async () => {
    for (let made = 0; made < 2; made++) await store.told(['backup', folder()]);
  });

  test.each([
    ['manifest.json', { format: 2 }],
    ['manifest.previous.json', { format: 2 }],
    ['manifest.json', { files: { 'of-a-newer-release': {} } }],
  ])('keeps it as it is: %s with %j', async (name, change) => {
    const path = join(folder(), name);
    const { manifest } = JSON.parse(await readFile(path, 'utf8')) as { manifest: object };
    const newer = { ...manifest, ...change };
    const sha256 = createHash('sha256').update(JSON.stringify(newer)).digest('hex');
    const text = JSON.stringify({ sha256, manifest: newer });
    await writeFile(path, text);
    const { code, stderr } = await store.run(['backup', folder()]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('another folder')]);
    expect(await readFile(path, 'utf8')).toBe(text);
    await writeFile(path, '');
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

test('an address where a folder belongs is refused, and makes no folder of that name', async () => {
  const { code, stderr } = await store.run(['backup', 's3://birds/backups']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('s3://birds/backups is not a folder'),
  ]);
  expect(existsSync('s3:')).toBe(false);
});
