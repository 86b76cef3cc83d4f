import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { EdgeClient } from '../support/http/edge-client.ts';
import { isRefused } from '../support/http/raw-request.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import {
  publish,
  served,
  settingsOf,
  startProject,
  endOf,
  processesOf,
  saysSo,
} from '../support/service/several-processes.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

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

  test('both serve each new deploy', async () => {
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
    expect(await isRefused(Number(new URL(service.origin).port))).toBe(true);
    expect(saysSo(service, 'stopped')).toBe(2);
  });

  test('end cleanly on SIGTERM while a replaced process still has requests under way', async () => {
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
    await until('one is being replaced', () => saysSo(replacing, begun) === 1);
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

  test('refuse to start as API without Redis, or on a port in use, and say so once', async () => {
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
