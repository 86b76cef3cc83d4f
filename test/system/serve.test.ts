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

describe.each(databaseKinds)('animal-store serve on %s', (kind) => {
  let home: Home;
  /** The latest one, with what the tests before left in its database. */
  let service: Service;
  let key: string;
  /** As a page linked to it before the first restart. */
  let nextPage: string;
  const homes: Home[] = [];
  const freshHome = async (): Promise<Home> => {
    const fresh = await newHome(kind);
    homes.push(fresh);
    return fresh;
  };
  beforeAll(async () => {
    home = await freshHome();
  });
  afterAll(() => Promise.all(homes.map((one) => one.remove())));

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

  test('prints at the first start a key and a curl line that works, and never again', async () => {
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

  test('follows a cursor after a restart', async () => {
    const { pathname, search } = new URL(nextPage);
    const rest = await ask(service, pathname + search, key);
    expect(await rest.json()).toMatchObject([{ name: 'Max' }]);
  });

  test('finishes a request that is under way when it is told to stop, and exits with 0', async () => {
    const post = await slowPost(service.origin, key, '{"name":"Slow","categoryId":1}');
    service.signal('SIGTERM');
    await until('new connections are refused', () => refusesConnections(service));
    const answer = await post.finish();
    expect(answer).toMatch(/^HTTP\/1\.1 201 Created/);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    service = await home.start();
    const stored = (await (await ask(service, '/v1/pets', key)).json()) as { name: string }[];
    expect(stored.at(-1)?.name).toBe('Slow');
  });

  test('exits at once at a second signal', async () => {
    const post = await slowPost(service.origin, key, '{}');
    service.signal('SIGTERM');
    await until('new connections are refused', () => refusesConnections(service));
    // Had it waited for the request, it would have given up with 1.
    expect(await service.end('SIGTERM')).toEqual({ code: 143, signal: null });
    post.abandon();
  });

  test('started twice at once on an empty database makes one account', async () => {
    const settings = { PORT: String(await findFreePort()) };
    const fresh = await freshHome();
    const services = await Promise.all([fresh.start(), fresh.start(settings)]);
    const shown = services.filter((service) => service.stdout().includes('pets_live_'));
    expect(shown).toHaveLength(1);
    const { stdout } = await fresh.run(['account', 'list', '--json']);
    expect(JSON.parse(stdout)).toHaveLength(1);
  });
});
