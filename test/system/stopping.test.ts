import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { slowPost } from '../support/http/slow-post.ts';
import { newHome, type Home } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

let home: Home;
beforeAll(async () => {
  home = await newHome('sqlite');
});
afterAll(() => home.remove());

const connectTo = (origin: string): Socket => {
  const { hostname, port } = new URL(origin);
  return connect(Number(port), hostname);
};

const ask = async (socket: Socket): Promise<string> => {
  socket.end('GET /healthz HTTP/1.1\r\nHost: animal-store.test\r\nConnection: close\r\n\r\n');
  return (await text(socket)).slice(0, 15);
};

test('a client that connected before the stop is answered, even if its request comes later', async () => {
  const service = await home.start();
  const sockets = Array.from({ length: 300 }, () => connectTo(service.origin));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  service.signal('SIGTERM');
  const answers = await Promise.all(sockets.map(ask));
  expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 200 OK']));
  expect(await service.end()).toEqual({ code: 0, signal: null });
});

test('a silent connection does not keep the service from stopping', async () => {
  const service = await home.start();
  const socket = connectTo(service.origin);
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  await closed;
});

test('an upload that hangs and a mail server that hangs do not add up to more time than a stop has', async () => {
  const email = 'owner@zoo.example';
  const server = createServer((socket) => socket.write('220 mail.zoo.example\r\n'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const called = once(server, 'connection') as Promise<[Socket]>;
  const { port } = server.address() as AddressInfo;
  const service = await home.start({
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    MAIL_FROM: 'store@shop.example',
  });
  const account = ['--name', 'Zoo', '--email', email, '--plan', 'pro'];
  const { stdout } = await home.run(['account', 'create', ...account, '--json']);
  const { key } = JSON.parse(stdout) as { key: { secret: string } };
  const visitor = new DashboardVisitor(service.origin);
  expect((await visitor.post('/dashboard/sign-in-link', { email })).status).toBe(200);
  const [silent] = await called;
  const upload = await slowPost(service.origin, key.secret, '{"name":"Rex"}');
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  upload.abandon();
  silent.destroy();
  server.close();
});

describe('with DRAIN_SECONDS', () => {
  test('a stopping service reports it first, and serves until they have passed', async () => {
    const service = await home.start({ DRAIN_SECONDS: '2' });
    const get = async (path: string) => (await fetch(service.origin + path)).status;
    expect(await get('/readyz')).toBe(200);
    service.signal('SIGTERM');
    await until('it is not ready', async () => (await get('/readyz')) === 503);
    const { status, headers } = await fetch(`${service.origin}/v1/pets`);
    expect([status, headers.get('Connection')]).toEqual([401, 'close']);
    expect(await service.end()).toEqual({ code: 0, signal: null });
  });

  test('a second signal ends it at once', async () => {
    const service = await home.start({ DRAIN_SECONDS: '3600' });
    service.signal('SIGTERM');
    await until('it stops', () => service.stdout().includes('stopping'));
    expect(await service.end('SIGTERM')).toEqual({ code: 143, signal: null });
  });
});
