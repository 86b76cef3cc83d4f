import { writeFileSync } from 'node:fs';
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { backUp } from '../../../src/app/backup/back-up.ts';
import { checkBackup } from '../../../src/app/backup/check-backup.ts';
import { BackupFolder } from '../../../src/app/backup/folder.ts';
import { restore } from '../../../src/app/backup/restore.ts';
import { killedAt, unflushed } from '../../support/backup/dying-process.ts';
import { StoreHome } from '../../support/backup/store-home.ts';

const silent = () => undefined;
const mostSteps = 200;

let store: StoreHome;
beforeAll(async () => {
  store = await StoreHome.open();
  await store.publish({ 'index.html': 'first '.repeat(100), 'same.txt': 'same' });
});
afterAll(() => store.close());

const faults = async (): Promise<readonly string[]> => {
  const checks = await checkBackup(store.config(), { path: store.backups }, silent);
  return checks.filter(({ state }) => state !== 'ok').map(({ seen }) => seen);
};
const madeAt = async () => (await new BackupFolder(store.backups).manifest())?.madeAt;
test('a backup that is killed at any step leaves the last one complete, and the next one continues', async () => {
  await store.run(['backup', store.backups]);
  const first = await madeAt();
  const asItWas = join(store.folder, 'as it was');
  await cp(store.backups, asItWas, { recursive: true });
  const second = await store.publish({ 'index.html': 'second '.repeat(100), 'same.txt': 'same' });
  store.change(`update accounts set name = 'Zoo 2'`);
  const goOn = () => backUp(store.config(), store.backups, silent);
  let steps = 1;
  let replaced = 0;
  while (await killedAt(steps, goOn)) {
    expect({ steps, faults: await faults() }).toEqual({ steps, faults: [] });
    if ((await madeAt()) !== first) replaced += 1;
    await goOn();
    expect({ steps, faults: await faults() }).toEqual({ steps, faults: [] });
    const { database, deploys = {} } = (await new BackupFolder(store.backups).manifest()) ?? {};
    const names = await readdir(store.backups);
    expect(names.sort()).toEqual([database?.file, 'deploys', 'lock', 'manifest.json']);
    expect(Object.keys(deploys)).toContain(second);
    expect(await readdir(join(store.backups, 'deploys'))).toEqual(Object.keys(deploys).sort());
    await rm(store.backups, { recursive: true });
    await cp(asItWas, store.backups, { recursive: true });
    steps += 1;
    if (steps > mostSteps) throw new Error('it takes ever more steps');
  }
  expect(steps).toBeGreaterThan(20);
  expect(replaced).toBeGreaterThan(0);
});

test('a restore that is killed at any step blocks services, and continues when it is repeated', async () => {
  await store.run(['backup', store.backups]);
  const machine = store.anotherMachine('killed');
  const config = store.config(machine);
  const dataDir = config.dataDir;
  let steps = 1;
  const goOn = () => restore(config, store.backups, silent);
  let wasInPlace = false;
  while (await killedAt(steps, goOn)) {
    const names = await readdir(dataDir).catch((): string[] => []);
    const isRefused = names.includes('restore-unfinished');
    expect({ steps, names, isRefused }).toEqual({ steps, names, isRefused: names.length > 0 });
    const isKilledAgain = await killedAt(Math.ceil(steps / 2), goOn);
    if (isKilledAgain) await goOn();
    expect(await readdir(dataDir)).toEqual(['animal-store.db', 'deploys']);
    wasInPlace ||= names.includes('animal-store.db');
    await rm(dataDir, { recursive: true });
    steps += 1;
    if (steps > mostSteps) throw new Error('it takes ever more steps');
  }
  expect(steps).toBeGreaterThan(10);
  expect(wasInPlace).toBe(true);
  for (const id of await readdir(join(dataDir, 'deploys'))) {
    for (const name of await readdir(join(dataDir, 'deploys', id))) {
      const [one, other] = [store.dataDir, dataDir].map((from) => join(from, 'deploys', id, name));
      expect((await readFile(one!)).equals(await readFile(other!))).toBe(true);
    }
  }
  expect(await store.told(['account', 'list'], machine)).toMatchObject([{ name: 'Zoo 2' }]);
});

test('a backup or restore counts only once it is written to disk', async () => {
  const backups = join(store.folder, 'flushed');
  const replacing: string[] = [];
  const afterBackup = await unflushed(
    () => backUp(store.config(), backups, silent),
    (name, path, pending) => {
      if (name === 'rename' && path === join(backups, 'manifest.json')) replacing.push(...pending);
    },
  );
  for (const pending of [replacing, afterBackup]) {
    expect(pending.filter((path) => path.startsWith(backups))).toEqual([join(backups, 'incoming')]);
  }
  const databases = join(store.folder, 'databases');
  const machine = {
    ...store.anotherMachine('flushed'),
    DATABASE_URL: `sqlite:${join(databases, 'animal-store.db')}`,
  };
  const { dataDir } = store.config(machine);
  const isOurs = (path: string) => path.startsWith(dataDir) || path.startsWith(databases);
  const unmarked: string[] = [];
  const beginning: (readonly string[])[] = [];
  const left = await unflushed(
    () => restore(store.config(machine), backups, silent),
    (name, path, pending) => {
      if (name === 'rm' && path === join(dataDir, 'restore-unfinished')) unmarked.push(...pending);
      if (name === 'mkdir' && path === join(dataDir, 'deploys')) beginning.push(pending);
    },
  );
  expect(beginning[0]?.filter((path) => path.startsWith(dataDir))).toEqual([]);
  expect(unmarked.filter(isOurs)).toEqual([]);
  expect(left.filter(isOurs)).toEqual([]);
});

test('a database that somebody creates during a restore is kept', async () => {
  const machine = store.anotherMachine('made meanwhile');
  const path = join(machine['DATA_DIR'] ?? '', 'animal-store.db');
  const restoring = restore(store.config(machine), store.backups, (step) => {
    if (step === 'restoring the database') writeFileSync(path, 'mine');
  });
  await expect(restoring).rejects.toThrow(`${path} appeared during the restore`);
  expect(await readFile(path, 'utf8')).toBe('mine');
});
