import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DashboardStream } from '../support/dashboard/stream.ts';
import { signInFirst } from '../support/dashboard/visitor.ts';
import { closed } from '../support/http/edge-client.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { newHome, type Home } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

let home: Home;
beforeAll(async () => {
  home = await newHome(await migratedDatabase('sqlite'));
});
afterAll(() => home.remove());

const connectTo = (origin: string): Socket => {
  const { hostname, port } = new URL(origin);
  return connect(Number(port), hostname);
};

const request = 'GET /healthz HTTP/1.1\r\nHost: animal-store.test\r\nConnection: close\r\n\r\n';

test('a stop answers clients that have just asked, even before they are accepted, and waits for no idle client or live page', async () => {
  const service = await home.start();
  const stream = await DashboardStream.open(await signInFirst(service), '/dashboard/usage');
  await stream.shows('Usage');
  const silent = connectTo(service.origin);
  const sockets = Array.from({ length: 100 }, () => connectTo(service.origin));
  await Promise.all([silent, ...sockets].map((socket) => once(socket, 'connect')));
  const isClosed = closed(silent);
  for (const socket of sockets) socket.end(request);
  service.signal('SIGTERM');
  const answers = await Promise.all(sockets.map(async (socket) => text(socket)));
  expect(new Set(answers.map((one) => one.slice(0, 15)))).toEqual(new Set(['HTTP/1.1 200 OK']));
  expect(await service.end()).toEqual({ code: 0, signal: null });
  await isClosed;
  await stream.ends();
});

describe('with DRAIN_SECONDS', () => {
  test('a stopping service first reports itself as not ready while it still serves, and a second signal ends it at once', async () => {
    const service = await home.start({ DRAIN_SECONDS: '3600' });
    const get = async (path: string) => (await fetch(service.origin + path)).status;
    expect(await get('/readyz')).toBe(200);
    service.signal('SIGTERM');
    await until('it is not ready', async () => (await get('/readyz')) === 503);
    const { status, headers } = await fetch(`${service.origin}/v1/pets`);
    expect([status, headers.get('Connection')]).toEqual([401, 'close']);
    expect(await service.end('SIGTERM')).toEqual({ code: 143, signal: null });
  });

  test('a stopping service ends automatically after DRAIN_SECONDS', async () => {
    const service = await home.start({ DRAIN_SECONDS: '1' });
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
