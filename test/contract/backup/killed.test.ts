import { writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { backUp } from '../../../src/app/backup/back-up.ts';
import { checkBackup } from '../../../src/app/backup/check-backup.ts';
import { BackupFolder } from '../../../src/app/backup/folder.ts';
import { restore } from '../../../src/app/backup/restore.ts';
import { killedAt } from '../../support/backup/dying-process.ts';
import { StoreHome } from '../../support/backup/store-home.ts';

const silent = () => undefined;
/** More than a backup or a restore of these sites takes. */
const mostSteps = 200;

let store: StoreHome;
beforeAll(async () => {
  store = await StoreHome.open();
  await store.publish({ 'index.html': 'first '.repeat(100), 'same.txt': 'same' });
});
afterAll(() => store.close());

/** What a check of the backup finds wrong. */
const faults = async (previous = false): Promise<readonly string[]> => {
  const checks = await checkBackup(store.config(), { path: store.backups, previous }, silent);
  return checks.filter(({ state }) => state !== 'ok').map(({ seen }) => seen);
};
const madeAt = async () => (await new BackupFolder(store.backups).manifest())?.madeAt;
const contentsOf = async (backups: string): Promise<number> => {
  const all = await readdir(join(backups, 'contents'), { recursive: true, withFileTypes: true });
  return all.filter((one) => one.isFile()).length;
};

test('a backup that is killed at any step leaves the previous one whole, and the next one goes on', async () => {
  await store.run(['backup', store.backups]);
  const second = await store.publish({ 'index.html': 'second '.repeat(100), 'same.txt': 'same' });
  store.change(`update accounts set name = 'Zoo 2'`);
  let steps = 1;
  let last = await madeAt();
  let replaced = 0;
  let previous = last;
  while (await killedAt(steps, () => backUp(store.config(), { path: store.backups }, silent))) {
    const now = await madeAt();
    expect({ steps, faults: await faults() }).toEqual({ steps, faults: [] });
    if (now !== last) {
      replaced += 1;
      previous = last;
    }
    const kept = await new BackupFolder(store.backups).manifest('previous');
    expect([previous, last, now, undefined]).toContain(kept?.madeAt);
    if (kept) expect({ steps, faults: await faults(true) }).toEqual({ steps, faults: [] });
    last = now;
    steps += 1;
    if (steps > mostSteps) throw new Error('it takes ever more steps');
  }
  expect(steps).toBeGreaterThan(15);
  expect(replaced).toBeGreaterThan(0);
  const made = await new BackupFolder(store.backups).manifest();
  expect(Object.keys(made?.deploys ?? {})).toContain(second);
  // Both of its backups have the same then, but for the database, which remembers the first of them in the second.
  await backUp(store.config(), { path: store.backups }, silent);
  const anew = join(store.folder, 'anew');
  await backUp(store.config(), { path: anew }, silent);
  expect(await contentsOf(store.backups)).toBe((await contentsOf(anew)) + 1);
  expect(await readdir(store.backups)).toEqual([
    'contents',
    'lock',
    'manifest.json',
    'manifest.previous.json',
  ]);
});

test('a restore that is killed at any step lets no service start, and goes on when it is repeated', async () => {
  await store.run(['backup', store.backups]);
  const machine = store.anotherMachine('killed');
  const config = store.config(machine);
  const dataDir = config.dataDir;
  let steps = 1;
  const goOn = () => restore(config, { path: store.backups }, silent);
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

test('a database that somebody makes during a restore is kept', async () => {
  const machine = store.anotherMachine('made meanwhile');
  const path = join(machine['DATA_DIR'] ?? '', 'animal-store.db');
  const restoring = restore(store.config(machine), { path: store.backups }, (step) => {
    if (step === 'restoring the database') writeFileSync(path, 'mine');
  });
  await expect(restoring).rejects.toThrow(`${path} appeared during the restore`);
  expect(await readFile(path, 'utf8')).toBe('mine');
});
