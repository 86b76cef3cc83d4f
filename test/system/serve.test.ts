import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { databaseKinds } from '../support/servers/databases.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import {
  newHome,
  printedKey,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import { slowPost } from '../support/http/raw-request.ts';
import { until } from '../support/until.ts';

const ask = (
  service: Service,
  path: string,
  key: string,
  init: Omit<RequestInit, 'headers'> = {},
) => {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return fetch(service.origin + path, { ...init, headers });
};
const add = async (service: Service, key: string, name: string): Promise<number> => {
  const body = JSON.stringify({ name, categoryId: 1 });
  return (await ask(service, '/v1/pets', key, { method: 'POST', body })).status;
};
const refusesConnections = (service: Service): Promise<boolean> =>
  fetch(`${service.origin}/healthz`).then(
    () => false,
    () => true,
  );

describe('animal-store serve', () => {
  let home: Home;
  let service: Service;
  let key: string;
  const operationsPort = findFreePort().then(String);
  let nextPage: string;
  beforeAll(async () => {
    home = await newHome('sqlite');
  });
  afterAll(() => home.remove());

  test('ends with a message when its port is in use, and the next start still shows the key', async () => {
    const busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port } = busy.address() as AddressInfo;
    const taken = await home.run(['serve'], { PORT: String(port) });
    busy.close();
    expect(taken.code).toBe(1);
    expect(taken.stderr).toMatch(
      /^animal-store: 127\.0\.0\.1:\d+ is in use.*set PORT to a free one/,
    );
    service = await home.start();
    key = printedKey(service);
    expect(await add(service, key, 'Rex')).toBe(201);
  });

  test('prints a key and a working curl line at the first start, and never again', async () => {
    const first = service;
    const [line = ''] = /^ *curl .*$/m.exec(first.stdout()) ?? [];
    const { stdout } = await promisify(execFile)('sh', ['-c', line]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'Rex' }]);
    await add(first, key, 'Max');
    const page = await ask(first, '/v1/pets?limit=1', key);
    [, nextPage = ''] = /<([^>]*)>/.exec(page.headers.get('Link') ?? '') ?? [];
    expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });

    service = await home.start();
    expect(service.stdout()).not.toMatch(/pets_live_|acct_/);
    expect(await (await ask(service, '/v1/pets', key)).json()).toEqual([
      ...((await page.json()) as unknown[]),
      { id: expect.any(Number), name: 'Max', categoryId: 1, status: 'available' },
    ]);
  });

  test('records whether the service, an operator or a key caused an event', async () => {
    const { stdout: accounts } = await home.run(['account', 'list', '--json']);
    const [{ id }] = JSON.parse(accounts) as [{ readonly id: string }];
    await home.run(['key', 'create', '--account', id, '--name', 'Till']);
    const { stdout } = await home.run(['account', 'audit', '--account', id, '--json']);
    const entries = JSON.parse(stdout) as readonly Record<'what' | 'actor', string>[];
    const told = entries.map(({ what, actor }) => `${what} by ${actor.replace(/key_.+/, 'key')}`);
    expect([...new Set(told)].toSorted()).toEqual([
      'account_opened by service',
      'api_key_issued by operator',
      'api_key_issued by service',
      'person_invited by service',
      'pet_added by key:key',
      'sign_in_link_made by service',
    ]);
  });

  test('accepts a cursor from before a restart', async () => {
    const { pathname, search } = new URL(nextPage);
    const rest = await ask(service, pathname + search, key);
    expect(await rest.json()).toMatchObject([{ name: 'Max' }]);
  });

  test('finishes a request under way when it has to stop, and exits with 0', async () => {
    const post = await slowPost(service.origin, key, '{"name":"Slow","categoryId":1}');
    service.signal('SIGTERM');
    await until('new connections are refused', () => refusesConnections(service));
    const answer = await post.finish();
    expect(answer).toMatch(/^HTTP\/1\.1 201 Created/);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    service = await home.start({ OPERATIONS_PORT: await operationsPort });
    const stored = (await (await ask(service, '/v1/pets', key)).json()) as { name: string }[];
    expect(stored.at(-1)?.name).toBe('Slow');
  });

  test('shows health and metrics on a separate port, and only /healthz on the public one', async () => {
    const own = await operationsPort;
    const statuses = (origin: string) =>
      Promise.all(
        ['/healthz', '/readyz', '/metrics', '/v1/pets', '/dashboard/sign-in'].map(
          async (path) => (await fetch(origin + path)).status,
        ),
      );
    expect(await statuses(`http://127.0.0.1:${own}`)).toEqual([200, 200, 200, 404, 404]);
    expect(await statuses(service.origin)).toEqual([200, 404, 404, 401, 200]);
    const metrics = await (await fetch(`http://127.0.0.1:${own}/metrics`)).text();
    expect(metrics).toMatch(/_count\{operation="listPets",status="401"\} 1$/m);
    const taken = await home.run(['serve'], {
      OPERATIONS_PORT: own,
      PORT: String(await findFreePort()),
    });
    expect(taken.code).toBe(1);
    expect(taken.stderr).toMatch(/is in use by another program; set OPERATIONS_PORT to a free one/);
  });

  test('exits at once at a second signal', async () => {
    const post = await slowPost(service.origin, key, '{}');
    service.signal('SIGTERM');
    await until('new connections are refused', () => refusesConnections(service));
    expect(await service.end('SIGTERM')).toEqual({ code: 143, signal: null });
    post.abandon();
  });
});

test.each(databaseKinds)(
  'two simultaneous first starts on an empty database, %s, create one account',
  async (kind) => {
    const settings = { PORT: String(await findFreePort()) };
    const home = await newHome(kind);
    const services = await Promise.all([home.start(), home.start(settings)]);
    const shown = services.filter((service) => service.stdout().includes('pets_live_'));
    expect(shown).toHaveLength(1);
    const { stdout } = await home.run(['account', 'list', '--json']);
    expect(JSON.parse(stdout)).toHaveLength(1);
    await home.remove();
  },
);
