import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { slowPost } from '../support/http/raw-request.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { newHome, type Home } from '../support/service/service-process.ts';

let home: Home;
beforeAll(async () => {
  home = await newHome(await migratedDatabase('sqlite'));
});
afterAll(() => home.remove());

test('stopping takes no longer than its limit, even if both an upload and the mail server hang', async () => {
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
