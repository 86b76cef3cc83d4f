import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentedCommands } from '../support/documented-commands.ts';
import { emptyDatabase, type TestDatabase } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { newHome, printedKey, type Home } from '../support/service/service-process.ts';

let home: Home;
let to: TestDatabase;
beforeAll(async () => {
  home = await newHome(await migratedDatabase('sqlite'));
  to = await emptyDatabase('mysql');
});
afterAll(async () => {
  await home.remove();
  await to.drop();
});

const [documented = ''] = documentedCommands('docs/databases.md', '## From SQLite to MySQL');
const move = () =>
  documented
    .trim()
    .replace(/mysql:\S+/, to.url)
    .split(' ')
    .slice(1);

test('a store moves from SQLite to MySQL once its service has stopped, and continues there', async () => {
  const service = await home.start();
  const headers = {
    Authorization: `Bearer ${printedKey(service)}`,
    'Content-Type': 'application/json',
  };
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  const add = (origin: string) => fetch(`${origin}/v1/pets`, { method: 'POST', headers, body });
  const first = (await (await add(service.origin)).json()) as { id: number };
  expect(await home.run(move())).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('a service or another command has it open'),
  });
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });

  const moved = await home.run([...move(), '--json']);
  expect(moved).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(moved.stdout)).toMatchObject({
    from: home.settings['DATABASE_URL'],
    rows: { pets: 1, accounts: 1 },
  });
  const there = await home.start({ DATABASE_URL: to.url });
  const pets = await fetch(`${there.origin}/v1/pets`, { headers });
  expect(await pets.json()).toEqual([first]);
  expect(await (await add(there.origin)).json()).toMatchObject({ id: first.id + 1 });
  expect(await home.run(move())).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is in use or not empty'),
  });
});

test('a move to anything but a MySQL database is wrong usage, and no password is shown', async () => {
  const { code, stderr } = await home.run(['move', '--to', 'mysql://shop:hunter2@127.0.0.1']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--to must be mysql://user')]);
  expect(stderr).not.toContain('hunter2');
});
