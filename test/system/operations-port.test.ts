import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { findFreePort } from '../support/servers/debian-server.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';

const statusOf = async (origin: string, path: string): Promise<number> =>
  (await fetch(origin + path)).status;
const statuses = (origin: string): Promise<readonly number[]> =>
  Promise.all(
    ['/healthz', '/readyz', '/metrics', '/v1/pets', '/dashboard/sign-in'].map((path) =>
      statusOf(origin, path),
    ),
  );

describe('health and metrics', () => {
  let home: Home;
  let port: string;
  beforeEach(async () => {
    home = await newHome('sqlite');
    port = String(await findFreePort());
  });
  afterEach(() => home.remove());

  const operations = () => `http://127.0.0.1:${port}`;
  const start = (): Promise<Service> => home.start({ OPERATIONS_PORT: port });

  test('are on the port of the API unless they have one of their own', async () => {
    const { origin } = await home.start();
    expect(await statuses(origin)).toEqual([200, 200, 200, 401, 200]);
  });

  test('are on their own port where it is set, and only /healthz on the public one too', async () => {
    const service = await start();
    expect(await statuses(operations())).toEqual([200, 200, 200, 404, 404]);
    expect(await statuses(service.origin)).toEqual([200, 404, 404, 401, 200]);
    await fetch(`${service.origin}/v1/pets`);
    const metrics = await (await fetch(`${operations()}/metrics`)).text();
    expect(metrics).toMatch(/_count\{operation="listPets",status="401"\} 2$/m);
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  test('are not started on a port that is taken, and the message names the setting', async () => {
    const other = createServer().listen(Number(port), '127.0.0.1');
    await once(other, 'listening');
    const { code, stderr } = await home.run(['serve'], { OPERATIONS_PORT: port });
    other.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/is in use by another program; set OPERATIONS_PORT to a free one/);
  });
});
