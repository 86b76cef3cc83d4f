import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { edgeClient, type EdgeClient } from '../support/http/edge-client.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { startObjectStore, type ObjectStore } from '../support/servers/object-store.ts';
import {
  newHome,
  printedAccount,
  type Home,
  type Service,
  type Settings,
} from '../support/service/service-process.ts';
import { plainTree } from '../support/sites/direct-unpacking.ts';
import { until } from '../support/until.ts';

const host = 'birds.sites.animal-store.test';
const photo = 'x'.repeat(3_000_000);

let folder: string;
let store: ObjectStore;
let home: Home;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-machines-'));
  store = await startObjectStore();
  home = await newHome(await migratedDatabase('mysql'));
});
afterAll(async () => {
  await home.remove();
  await store.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Machine {
  readonly settings: Settings;
  service: Service;
  client(): Promise<EdgeClient>;
}

const settingsOf = (name: string): Settings => ({
  ...store.settings,
  DATA_DIR: join(folder, name),
  SECRET_KEY: '8fz3kq0v7m2xw9t4c6b1n5hj8rd0gy3s',
});

const startMachine = async (name: string, roles: string): Promise<Machine> => {
  const [port, http, https] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const settings = {
    ...settingsOf(name),
    ROLES: roles,
    PORT: String(port),
    EDGE_HTTP_PORT: String(http),
    EDGE_HTTPS_PORT: String(https),
  };
  const root = join(folder, 'one', 'local-ca.pem');
  return {
    settings,
    service: await home.start(settings),
    client: async () => edgeClient({ http, https }, await readFile(root, 'utf8')),
  };
};

const deploy = async (name: string, site: Readonly<Record<string, string>>): Promise<number> => {
  const place = await plainTree(join(folder, name), site);
  const args = ['deploy', place, '--project', 'birds', '--json'];
  return (await home.execute(args, settingsOf('desk'))).code ?? 1;
};

const visit = async (machine: Machine, path: string) => (await machine.client()).get(host, path);
const serves = (machine: Machine, path: string, content: string) =>
  until(`${path} is served`, async () => {
    const answer = await visit(machine, path).catch(() => undefined);
    return answer?.status === 200 && String(answer.body) === content;
  });

test('machines with separate folders serve one deploy, and serve what they have while the store is unavailable', async () => {
  const one = await startMachine('one', 'api,worker,edge');
  const other = await startMachine('other', 'edge');
  const account = printedAccount(one.service);
  const project = ['project', 'create', '--account', account, '--name', 'Birds'];
  expect(await home.run(project, settingsOf('desk'))).toMatchObject({ code: 0 });
  expect(await deploy('first', { 'index.html': 'first', 'photo.jpg': photo })).toBe(0);
  for (const machine of [one, other]) await serves(machine, '/', 'first');

  await store.goAway();
  other.service.signal('SIGKILL');
  await other.service.end();
  other.service = await home.start(other.settings);
  for (const machine of [one, other]) {
    await serves(machine, '/', 'first');
    const answer = await visit(machine, '/photo.jpg');
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(String(answer.body)).toBe('503 Service Unavailable\n');
  }
  expect(await deploy('second', { 'index.html': 'second' })).toBe(1);

  await store.comeBack();
  for (const machine of [one, other]) await serves(machine, '/photo.jpg', photo);
  const before = await store.keys();
  expect(await deploy('refused', { 'about.html': 'without an index' })).toBe(1);
  await until('nothing of it is left', async () => (await store.keys()).length === before.length);
  expect(await deploy('third', { 'index.html': 'third' })).toBe(0);
  for (const machine of [one, other]) await serves(machine, '/', 'third');
  for (const { service } of [one, other]) {
    expect(service.stdout() + service.stderr()).not.toContain('S3RVER');
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  }
});
