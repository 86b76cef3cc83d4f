import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
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

/** The backup's account, after a restore of it into an empty machine. */
const restored = async (name: string) => {
  const machine = store.anotherMachine(name);
  const { lost } = await store.told<{ lost: object }>(['restore', store.backups], machine);
  expect(lost).toEqual({});
  return store.told(['account', 'list'], machine);
};

test('a backup of a database that was emptied is refused, and the last one stays', async () => {
  const refused = await store.run(['backup', store.backups], wiped);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('The database has no account, and the last backup'),
  ]);
  expect(await store.check()).toEqual({ code: 0, found: [] });
  expect(await restored('after a refusal')).toMatchObject([{ name: 'Zoo' }]);
});

test('a database without an account is backed up into another folder', async () => {
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

test('a damaged database is not copied over a good backup', async () => {
  const machine = store.anotherMachine('corrupt');
  await store.told(['migrate'], machine);
  store.change(
    `create table marked (a text); create index marks on marked (a); insert into marked values ('marker of a test')`,
  );
  const path = (machine['DATABASE_URL'] ?? '').slice('sqlite:'.length);
  await copyFile((store.home.settings['DATABASE_URL'] ?? '').slice('sqlite:'.length), path);
  store.change('drop table marked');
  const bytes = await readFile(path);
  // Every query still answers; only the index no longer has what its table has.
  bytes.write('marker of anothe', bytes.lastIndexOf('marker of a test'));
  await writeFile(path, bytes);
  const { code, stderr } = await store.run(['backup', store.backups], machine);
  expect([code, stderr]).toEqual([1, expect.stringContaining('There is no new backup')]);
  expect(await store.check()).toEqual({ code: 0, found: [] });
});
