import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { edgeClient, type EdgeClient } from '../support/http/edge-client.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { PersistentWriter } from '../support/service/persistent-writer.ts';
import {
  liftLimits,
  newHome,
  printedAccount,
  printedKey,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import {
  answeredBy,
  endOf,
  processesOf,
  saysSo,
  servingProcesses,
} from '../support/service/several-processes.ts';
import { Visits } from '../support/service/visits.ts';
import { until } from '../support/until.ts';

const host = 'birds.sites.animal-store.test';

const publish = async (home: Home, page: string): Promise<void> => {
  const folder = join(home.settings['DATA_DIR'] ?? '', page);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'index.html'), page);
  const { code, stderr } = await home.run(['deploy', folder, '--project', 'birds']);
  expect([code, stderr]).toEqual([0, '']);
};

const settingsOf = ({ http, https }: EdgeClient['ports']) => ({
  EDGE_HTTP_PORT: String(http),
  EDGE_HTTPS_PORT: String(https),
});

const startProject = (home: Home, service: Service) =>
  home.run(['project', 'create', '--account', printedAccount(service), '--name', 'Birds']);

const rootOf = (home: Home) =>
  readFile(join(home.settings['DATA_DIR'] ?? '', 'local-ca.pem'), 'utf8');

const isRefused = (origin: string): Promise<boolean> =>
  fetch(origin).then(
    () => false,
    () => true,
  );

/** Waits until each of a dozen new connections gets the page, so every process has it. */
const served = async (home: Home, ports: EdgeClient['ports'], page: string): Promise<void> => {
  await until(`${page} is served`, async () => {
    const client = edgeClient(ports, await rootOf(home).catch(() => ''));
    const visit = () => client.get(host, '/').then(({ body }) => String(body), String);
    const seen = await Promise.all(Array.from({ length: 12 }, visit));
    return seen.every((one) => one === page);
  });
};

/** The number of a metric. */
const metric = async ({ origin }: Service, name: string): Promise<number> => {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
};

describe('two processes with all roles, on MySQL and Redis', () => {
  let home: Home;
  let service: Service;
  let ports: EdgeClient['ports'];
  beforeAll(async () => {
    home = await newHome(await migratedDatabase('mysql'));
    ports = { http: await findFreePort(), https: await findFreePort() };
    service = await home.start({
      PROCESSES: '2',
      REDIS_URL: process.env['TEST_REDIS_URL'] ?? '',
      ...settingsOf(ports),
    });
    await liftLimits(home, service);
    await startProject(home, service);
    await publish(home, 'one');
    await served(home, ports, 'one');
  });
  let isOver = false;
  const visits = { api: new Visits(), edge: new Visits() };
  afterAll(async () => {
    isOver = true;
    await Promise.all([visits.api.stop(), visits.edge.stop()]);
    await home.remove();
  });

  test('introduce themselves once, and one of them is the worker', () => {
    expect(service.stdout().match(/^Animal Store serves/gm)).toHaveLength(1);
    const roles = processesOf(service).map((one) => one.roles.join());
    expect(roles.sort()).toEqual(['api,dashboard,edge', 'api,dashboard,edge,worker']);
  });

  test('both answer, and either one shows the metrics of both', async () => {
    const headers = { Authorization: `Bearer ${printedKey(service)}`, Connection: 'close' };
    const get = () => fetch(`${service.origin}/v1/store/orders`, { headers });
    let asked = 0;
    await until('both have answered', async () => {
      await Promise.all(Array.from({ length: 20 }, get));
      asked += 20;
      return answeredBy(service, '/v1/store/orders').size === 2;
    });
    const answered = 'http_request_duration_seconds_count{operation="listOrders",status="200"}';
    for (let time = 0; time < 6; time++) expect(await metric(service, answered)).toBe(asked);
    expect(await metric(service, 'processes{state="serving"}')).toBe(2);
    expect(await metric(service, 'processes{state="silent"}')).toBe(0);
    expect(await metric(service, 'edge_hosts')).toBe(1);
  });

  test('SIGHUP replaces both under load without a failed request', async () => {
    const before = processesOf(service);
    const answered = 'http_request_duration_seconds_count{operation="listPets",status="200"}';
    const known = await metric(service, answered);
    const headers = { Authorization: `Bearer ${printedKey(service)}` };
    visits.api.start({ url: `${service.origin}/v1/pets?limit=1`, options: { headers } }, 3);
    const root = { servername: host, ca: await rootOf(home), headers: { Host: host } };
    visits.edge.start({ url: `https://127.0.0.1:${ports.https}/`, options: root }, 3);
    await until('all are at it', () => visits.api.answered > 20 && visits.edge.answered > 20);
    service.signal('SIGHUP');
    await until(
      'a round is over',
      () => saysSo(service, 'all processes are replaced') === 1,
      60_000,
    );
    await Promise.all([visits.api.stop(), visits.edge.stop()]);
    expect([...visits.api.failures, ...visits.edge.failures]).toEqual([]);
    const after = await servingProcesses(service, 2, before);
    expect(after.filter(({ roles }) => roles.includes('worker'))).toHaveLength(1);
    // What the old ones counted is not lost.
    expect(await metric(service, answered)).toBe(known + visits.api.answered);
  });

  test('one that is killed is replaced in its role, and nothing answered is lost', async () => {
    const [worker, ...others] = processesOf(service).toSorted(
      (one, other) => other.roles.length - one.roles.length,
    );
    const writers = ['a', 'b', 'c'].map(
      (label) => new PersistentWriter(label, printedKey(service)),
    );
    const loops = writers.map(async (writer) => {
      // A request to the killed one gets no answer, and is repeated.
      while (!isOver) await writer.write(service.origin, () => isOver);
      await writer.settle(service.origin);
    });
    const count = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
    await until('some are stored', () => count() > 10);
    process.kill(worker!.pid, 'SIGKILL');
    const after = await servingProcesses(service, 2, [worker!]);
    isOver = true;
    await Promise.all(loops);
    expect(after.map(({ pid }) => pid)).toContain(others[0]!.pid);
    expect(after.filter(({ roles }) => roles.includes('worker'))).toHaveLength(1);
    expect(await metric(service, 'processes_replaced_total')).toBe(1);
    const headers = { Authorization: `Bearer ${printedKey(service)}` };
    for (const { id, name } of writers.flatMap(({ acknowledged }) => acknowledged.slice(-5))) {
      const answer = await fetch(`${service.origin}/v1/pets/${id}`, { headers });
      expect(await answer.json()).toMatchObject({ name });
    }
  });

  test('a signal to all of them, as Ctrl-C sends it, ends them in good order, and nobody listens any more', async () => {
    const before = processesOf(service);
    const replaced = saysSo(service, 'a process ended, replacing it');
    for (const { pid } of before) process.kill(pid, 'SIGINT');
    expect(await service.end('SIGINT')).toEqual({ code: 0, signal: null });
    await endOf(before);
    expect(await isRefused(service.origin)).toBe(true);
    expect(saysSo(service, 'a process ended, replacing it')).toBe(replaced);
    expect(saysSo(service, 'stopped')).toBeGreaterThanOrEqual(3);
  });
});

describe('two edges on SQLite, without Redis', () => {
  const settings = { PROCESSES: '2', ROLES: 'edge,worker' };
  let home: Home;
  let service: Service;
  let ports: EdgeClient['ports'];
  beforeAll(async () => {
    home = await newHome(await migratedDatabase('sqlite'));
    ports = { http: await findFreePort(), https: await findFreePort() };
    service = await home.start({
      ...settings,
      ...settingsOf(ports),
    });
    await startProject(home, service);
  });
  afterAll(() => home.remove());

  test('follow each deploy within a second', async () => {
    for (const page of ['one', 'two']) {
      await publish(home, page);
      await served(home, ports, page);
    }
  });

  test('end when their parent is killed', async () => {
    const before = processesOf(service);
    expect(before).toHaveLength(2);
    service.signal('SIGKILL');
    await endOf(before);
    expect(await isRefused(service.origin)).toBe(true);
    expect(saysSo(service, 'stopped')).toBe(2);
  });

  test('end in good order on SIGTERM while a replaced one still has requests under way', async () => {
    const replacing = await home.start(settings);
    const { hostname, port } = new URL(replacing.origin);
    const uploads = Array.from({ length: 12 }, () => connect(Number(port), hostname));
    for (const upload of uploads) {
      upload.on('error', () => undefined).resume();
      upload.write('POST /nothing HTTP/1.1\r\nHost: zoo.test\r\nContent-Length: 10\r\n\r\nhalf');
    }
    await Promise.all(uploads.map((upload) => once(upload, 'data')));
    replacing.signal('SIGHUP');
    const begun = 'stopping: finishing requests in progress';
    await until('one is being replaced', () => saysSo(replacing, begun) === 1, 60_000);
    expect(await replacing.end('SIGTERM')).toEqual({ code: 0, signal: null });
    for (const upload of uploads) upload.destroy();
  });

  test('are killed by a second signal', async () => {
    const draining = await home.start({ ...settings, DRAIN_SECONDS: '3600' });
    const before = processesOf(draining);
    draining.signal('SIGTERM');
    const begun = 'stopping: finishing requests in progress';
    await until('all of them stop', () => saysSo(draining, begun) === 3);
    expect(await draining.end('SIGTERM')).toEqual({ code: 143, signal: null });
    await endOf(before);
  });

  test('do not start without Redis as API, or on a port that is taken, and say so once', async () => {
    const api = await home.execute(['serve'], { ...settings, ROLES: 'api' });
    expect(api).toMatchObject({ code: 1, stdout: '' });
    expect(api.stderr.match(/need REDIS_URL/g)).toHaveLength(1);
    const other = createServer().listen(ports.http, '127.0.0.1');
    await once(other, 'listening');
    const taken = await home.execute(['serve'], {
      ...settings,
      EDGE_HTTP_PORT: String(ports.http),
    });
    other.close();
    expect(taken.code).toBe(1);
    expect(taken.stderr.match(/is in use by another program; set EDGE_HTTP_PORT/g)).toHaveLength(1);
  });
});
