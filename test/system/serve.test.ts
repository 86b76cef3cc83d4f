import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { databaseKinds } from '../support/databases.ts';
import { findFreePort } from '../support/debian-server.ts';
import { newHome, printedKey, type Home, type Service } from '../support/service-process.ts';
import { slowPost } from '../support/slow-post.ts';
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
  beforeEach(async () => {
    home = await newHome(kind);
  });
  afterEach(() => home.remove());

  test('prints at the first start a key and a curl line that works, and never again', async () => {
    const first = await home.start();
    const key = printedKey(first);
    expect(await add(first, key, 'Rex')).toBe(201);
    const [line = ''] = /^ *curl .*$/m.exec(first.stdout()) ?? [];
    const { stdout } = await promisify(execFile)('sh', ['-c', line]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'Rex' }]);
    const page = await ask(first, '/v1/pets?limit=1', key);
    await add(first, key, 'Max');
    expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });

    const second = await home.start();
    expect(second.stdout()).not.toMatch(/pets_live_|acct_/);
    expect(await (await ask(second, '/v1/pets', key)).json()).toEqual([
      ...((await page.json()) as unknown[]),
      { id: expect.any(Number), name: 'Max', categoryId: 1, status: 'available' },
    ]);
  });

  test('follows a cursor after a restart', async () => {
    const first = await home.start();
    const key = printedKey(first);
    for (const name of ['One', 'Two', 'Three']) await add(first, key, name);
    const { headers } = await ask(first, '/v1/pets?limit=2', key);
    await first.end('SIGTERM');
    const second = await home.start();
    const [, next = ''] = /<([^>]*)>/.exec(headers.get('Link') ?? '') ?? [];
    const { pathname, search } = new URL(next);
    const rest = await ask(second, pathname + search, key);
    expect(await rest.json()).toMatchObject([{ name: 'Three' }]);
  });

  test('finishes a request that is under way when it is told to stop, and exits with 0', async () => {
    const service = await home.start();
    const key = printedKey(service);
    const post = await slowPost(service.origin, key, '{"name":"Slow","categoryId":1}');
    service.signal('SIGTERM');
    await until('new connections are refused', () => refusesConnections(service));
    const answer = await post.finish();
    expect(answer).toMatch(/^HTTP\/1\.1 201 Created/);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    const again = await home.start();
    expect(await (await ask(again, '/v1/pets', key)).json()).toMatchObject([{ name: 'Slow' }]);
  });

  test('exits at once when it is told a second time', async () => {
    const service = await home.start();
    const post = await slowPost(service.origin, printedKey(service), '{}');
    service.signal('SIGTERM');
    await until('new connections are refused', () => refusesConnections(service));
    // Had it waited for the request, it would have given up with 1.
    expect(await service.end('SIGTERM')).toEqual({ code: 143, signal: null });
    post.abandon();
  });

  test('ends with a message when its port is in use, and the next start still shows the key', async () => {
    const other = await newHome('sqlite');
    await other.start();
    const taken = await home.run(['serve'], { PORT: other.settings['PORT'] ?? '' });
    await other.remove();
    expect(taken.code).toBe(1);
    expect(taken.stderr).toMatch(
      /^animal-store: 127\.0\.0\.1:\d+ is in use.*set PORT to a free one/,
    );
    const service = await home.start();
    expect(await add(service, printedKey(service), 'Rex')).toBe(201);
  });

  test('started twice at once on an empty database makes one account', async () => {
    const settings = { PORT: String(await findFreePort()) };
    const services = await Promise.all([home.start(), home.start(settings)]);
    const shown = services.filter((service) => service.stdout().includes('pets_live_'));
    expect(shown).toHaveLength(1);
    const { stdout } = await home.run(['account', 'list', '--json']);
    expect(JSON.parse(stdout)).toHaveLength(1);
  });
});
