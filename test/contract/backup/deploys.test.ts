import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { backUp } from '../../../src/app/backup/back-up.ts';
import { BackupFolder } from '../../../src/app/backup/folder.ts';
import { restore } from '../../../src/app/backup/restore.ts';
import { S3Store } from '../../../src/adapters/storage/s3/s3-store.ts';
import { StoreHome } from '../../support/backup/store-home.ts';
import { startObjectStore, type ObjectStore } from '../../support/servers/object-store.ts';

const silent = () => undefined;
const site = (name: string) => ({ 'index.html': `${name} `.repeat(100), 'same.txt': 'same' });

describe('a backup of deploys in a folder', () => {
  let store: StoreHome;
  let first: string;
  beforeAll(async () => {
    store = await StoreHome.open();
    first = await store.publish(site('first'));
  });
  afterAll(() => store.close());

  const named = async () =>
    Object.keys((await new BackupFolder(store.backups).manifest())?.deploys ?? {});
  const folderOf = (id: string) => join(store.dataDir, 'deploys', id);
  /** Files exist before their row and are removed after it. */
  const add = (id: string) => {
    cpSync(folderOf(first), folderOf(id), { recursive: true });
    store.change(
      `create temp table copied as select * from deploys where id = '${first}';
       update copied set id = '${id}', number = 99;
       insert into deploys select * from copied;
       drop table copied`,
    );
  };
  const remove = (id: string) => {
    store.change(`delete from deploys where id = '${id}'`);
    rmSync(folderOf(id), { recursive: true });
  };

  test('copies only new deploys and drops deleted ones', async () => {
    const args = ['backup', store.backups];
    expect(await store.told(args)).toMatchObject({ deploys: 1, newDeploys: 1 });
    expect(await store.told(args)).toMatchObject({ deploys: 1, newDeploys: 0, newBytes: 0 });
    const second = await store.publish(site('second'));
    expect(await store.told(args)).toMatchObject({ deploys: 2, newDeploys: 1 });
    expect(await named()).toEqual([first, second].sort());
    await store.told(['project', 'delete-deploy', '--project', 'birds', '--number', '1']);
    expect(await store.told(args)).toMatchObject({ deploys: 1, newDeploys: 0 });
    expect(await store.check()).toEqual({ code: 0, found: [] });
    first = second;
  });

  test('does not list a deploy that was published and deleted while the database was copied', async () => {
    const rounds: string[] = [];
    const onProgress = (step: string, done: number, total: number | undefined) => {
      if (step === 'copying deploys' && done === total && rounds.length === 0) add('dep_short');
      if (step !== 'copying MiB of the database') return;
      if (rounds.length === 0) remove('dep_short');
      rounds.push(step);
    };
    const { manifest } = await backUp(store.config(), store.backups, onProgress);
    expect(manifest.lost).toEqual({});
    expect(Object.keys(manifest.deploys)).toEqual([first]);
    expect(await store.check()).toEqual({ code: 0, found: [] });
  });

  test('contains every deploy that was published while it copied others', async () => {
    let isAdded = false;
    const onProgress = (step: string) => {
      if (step !== 'copying deploys' || isAdded) return;
      isAdded = true;
      add('dep_late');
    };
    await backUp(store.config(), store.backups, onProgress);
    expect(await named()).toEqual(['dep_late', first].sort());
    expect(await store.check()).toEqual({ code: 0, found: [] });
    remove('dep_late');
  });

  test('names a deploy that lost its files, copies all others, and counts as incomplete', async () => {
    const { made } = await store.backupTimes();
    add('dep_lost');
    await rm(folderOf('dep_lost'), { recursive: true });
    const { code, stdout } = await store.run(['backup', store.backups, '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { deploys: 1, lost: { dep_lost: 'its files are missing' } },
    ]);
    expect((await store.backupTimes()).made).toEqual(made);
    const checked = await store.check();
    expect([checked.code, checked.found.length]).toEqual([1, 1]);
    expect(checked.found[0]).toContain(
      'Deploy dep_lost was already incomplete when the backup was made: its files are missing',
    );
    store.change(`delete from deploys where id = 'dep_lost'`);
  });

  test('refuses a folder that holds something else or that another backup uses', async () => {
    const other = await store.run(['backup', store.dataDir]);
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('holds other files')]);
    await new BackupFolder(store.backups).holding('writer', async () => {
      for (const args of [['backup'], ['backup', 'check'], ['restore']]) {
        const { code, stderr } = await store.run([...args, store.backups]);
        expect([code, stderr]).toEqual([1, expect.stringContaining('is in use by another backup')]);
      }
    });
    const nowhere = { DATABASE_URL: 'sqlite:nowhere/none.db' };
    const { code, stderr } = await store.run(['backup', store.backups], nowhere);
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no database at')]);
  });

  test('copies a deploy again if an earlier run left only a part of it', async () => {
    add('dep_part');
    await backUp(store.config(), store.backups, silent);
    const copied = join(store.backups, 'deploys', 'dep_part');
    rmSync(join(store.backups, 'manifest.json'));
    const [file = ''] = (await readdir(copied)).filter((name) => name !== 'manifest.json');
    rmSync(join(copied, file));
    const { newDeploys } = await backUp(store.config(), store.backups, silent);
    expect([newDeploys, await store.check()]).toEqual([1, { code: 0, found: [] }]);
    remove('dep_part');
  });

  test('ends when the storage is unavailable, and keeps the last backup', async () => {
    await backUp(store.config(), store.backups, silent);
    const before = await named();
    const unreadable = { DEPLOYS_URL: 's3://none/there', S3_ENDPOINT: 'http://127.0.0.1:1' };
    add('dep_new');
    const { code } = await store.run(['backup', store.backups], {
      ...unreadable,
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'y',
    });
    remove('dep_new');
    expect([code, await named()]).toEqual([1, before]);
  });
});

describe('a backup of deploys in an object store', () => {
  let bucket: ObjectStore;
  let store: StoreHome;
  beforeAll(async () => {
    bucket = await startObjectStore();
    store = await StoreHome.open(bucket.settings);
  });
  afterAll(async () => {
    await store.close();
    await bucket.stop();
  });

  /** A list of names does not prove that the objects are there and unchanged. */
  const bringsBackWhatWasChanged = async (id: string) => {
    const objects = new S3Store(bucket.place);
    const names = (await bucket.keys()).filter((key) => key.includes(`/${id}/`));
    const name = names.find((key) => !/\.|draft/.test(key.slice(key.lastIndexOf('/')))) ?? '';
    const key = name.slice(name.indexOf(id));
    const list = `${id}/manifest.json`;
    const [stored, listed] = [await objects.read(key), await objects.read(list)];
    const changes = [
      () => objects.write(key, Buffer.alloc(stored?.length ?? 0, 'x')),
      () => objects.remove(key),
      () => objects.write(list, (listed ?? Buffer.alloc(0)).subarray(0, 40)),
      () => objects.write(list, Buffer.from(String(listed).replace('rex.jpg', 'evil.js'))),
    ];
    for (const [at, change] of changes.entries()) {
      await change();
      const config = store.config(store.anotherMachine(`changed bucket ${at}`));
      const { replaced, lost } = await restore(config, store.backups, silent);
      expect({ at, replaced, lost }).toEqual({ at, replaced: [id], lost: {} });
      expect(await objects.read(key)).toEqual(stored);
      expect(await objects.read(list)).toEqual(listed);
    }
    // A damaged backup replaces nothing.
    const place = join(store.backups, 'deploys', key);
    const whole = readFileSync(place);
    await objects.remove(key);
    writeFileSync(place, Buffer.alloc(whole.length));
    const config = store.config(store.anotherMachine('damaged and changed'));
    const { replaced, lost } = await restore(config, store.backups, silent);
    expect([replaced, Object.keys(lost)]).toEqual([[], [id]]);
    expect(await objects.read(list)).toEqual(listed);
    writeFileSync(place, whole);
    await objects.write(key, stored!);
    objects.close();
  };

  test('is restored into another store, and skips deploys that the store still has', async () => {
    const photo = Buffer.alloc(1_500_000, 'rex');
    const id = await store.publish({ ...site('stored'), 'rex.jpg': photo });
    expect(await store.told(['backup', store.backups])).toMatchObject({
      deploys: 1,
      newDeploys: 1,
    });
    expect(await store.check()).toEqual({ code: 0, found: [] });
    expect(await readdir(store.dataDir)).not.toContain('backup-cache');

    bucket.requests.length = 0;
    await store.told(['restore', store.backups], store.anotherMachine('same bucket'));
    expect(bucket.requests.filter((one) => !one.startsWith('GET'))).toEqual([]);

    await bringsBackWhatWasChanged(id);

    const elsewhere = { DEPLOYS_URL: 's3://deploys/elsewhere' };
    await store.told(['restore', store.backups], {
      ...store.anotherMachine('other bucket'),
      ...elsewhere,
    });
    const keys = await bucket.keys();
    const restored = keys.filter((key) => key.startsWith('elsewhere/'));
    const own = keys
      .filter((key) => key.startsWith('live/'))
      .map((key) => key.slice(key.indexOf(id)));
    expect(restored.map((key) => key.slice('elsewhere/'.length))).toEqual(own);
  });
});
