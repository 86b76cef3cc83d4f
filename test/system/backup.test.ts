import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { check, newMachine, visited, type Machine } from '../support/backup/store-home.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { printedAccount, printedKey } from '../support/service/service-process.ts';
import { plainTree } from '../support/sites/direct-unpacking.ts';
import { until } from '../support/until.ts';

let folder: string;
let machine: Machine;
let other: Machine;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-backups-'));
  machine = await newMachine(await migratedDatabase('sqlite'), {});
  other = await newMachine('sqlite', {});
});
afterAll(async () => {
  await machine.home.remove();
  await other.home.remove();
  await rm(folder, { recursive: true, force: true });
});

test('a backup of a running service passes its check, and restores the animals, the site and the certificate on a new machine', async () => {
  const service = await machine.home.start(machine.settings);
  const run = (of: Machine, ...args: readonly string[]) => of.home.run(args, of.settings);
  const account = printedAccount(service);
  const project = ['project', 'create', '--account', account, '--name', 'Birds'];
  expect(await run(machine, ...project)).toMatchObject({ code: 0 });
  const site = await plainTree(join(folder, 'site'), { 'index.html': 'birds', 'a/b.txt': 'same' });
  expect(await run(machine, 'deploy', site, '--project', 'birds')).toMatchObject({ code: 0 });
  const seen = await until('the site is served', () => visited(machine).catch(() => undefined));
  expect(seen).toMatchObject({ status: 200, body: 'birds' });
  const headers = {
    Authorization: `Bearer ${printedKey(service)}`,
    'Content-Type': 'application/json',
  };
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  const added = await fetch(`${service.origin}/v1/pets`, { method: 'POST', headers, body });
  expect(added.status).toBe(201);

  const backups = join(folder, 'backups');
  expect(await run(machine, 'backup', backups)).toMatchObject({ code: 0, stderr: '' });
  expect(await check(machine, backups)).toMatchObject({ code: 0, printed: { ok: true } });
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });

  expect(await run(other, 'restore', backups)).toMatchObject({ code: 0, stderr: '' });
  const next = await other.home.start(other.settings);
  const pets = await fetch(`${next.origin}/v1/pets`, { headers });
  expect(await pets.json()).toMatchObject([{ name: 'Rex' }]);
  expect(await visited(other)).toEqual(seen);
  expect(await run(other, 'restore', backups)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is in use or not empty'),
  });
});
