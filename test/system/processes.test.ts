import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { EdgeClient } from '../support/http/edge-client.ts';
import { isRefused } from '../support/http/raw-request.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import {
  host,
  metric,
  metricOfAll,
  publish,
  rootOf,
  served,
  settingsOf,
  startProject,
  answeredBy,
  endOf,
  processesOf,
  saysSo,
  servingProcesses,
} from '../support/service/several-processes.ts';
import {
  liftLimits,
  newHome,
  printedKey,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import { Visits } from '../support/service/visits.ts';
import { until } from '../support/until.ts';

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
  const visits = { api: new Visits(), edge: new Visits() };
  afterAll(async () => {
    await Promise.all([visits.api.stop(), visits.edge.stop()]);
    await home.remove();
  });

  test('report their start once, and one of them is the worker', () => {
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
    await until('whichever is asked shows those of both', async () => {
      for (let time = 0; time < 6; time++)
        if ((await metric(service, answered)) !== asked) return false;
      return (await metric(service, 'processes{state="serving"}')) === 2;
    });
    expect(await metricOfAll(2, service, 'edge_hosts')).toBe(2);
  });

  test('SIGHUP replaces both under load without a failed request', async () => {
    const before = processesOf(service);
    const answered = 'http_request_duration_seconds_count{operation="listPets",status="200"}';
    const known = await metricOfAll(2, service, answered);
    const headers = { Authorization: `Bearer ${printedKey(service)}` };
    visits.api.start({ url: `${service.origin}/v1/pets?limit=1`, options: { headers } }, 3);
    const root = { servername: host, ca: await rootOf(home), headers: { Host: host } };
    visits.edge.start({ url: `https://127.0.0.1:${ports.https}/`, options: root }, 3);
    await until('all are at it', () => visits.api.answered > 20 && visits.edge.answered > 20);
    service.signal('SIGHUP');
    await until('a round is over', () => saysSo(service, 'all processes are replaced') === 1);
    await Promise.all([visits.api.stop(), visits.edge.stop()]);
    expect([...visits.api.failures, ...visits.edge.failures]).toEqual([]);
    const after = await servingProcesses(service, 2, before);
    expect(after.filter(({ roles }) => roles.includes('worker'))).toHaveLength(1);
    await until('what the old ones counted is there', async () => {
      const counted = await metricOfAll(2, service, answered);
      return counted === known + visits.api.answered;
    });
  });

  test('end cleanly at a signal to all of them, as Ctrl-C sends it, and no port stays open', async () => {
    const before = processesOf(service);
    const replaced = saysSo(service, 'a process ended, replacing it');
    for (const { pid } of before) process.kill(pid, 'SIGINT');
    expect(await service.end('SIGINT')).toEqual({ code: 0, signal: null });
    await endOf(before);
    expect(await isRefused(Number(new URL(service.origin).port))).toBe(true);
    expect(saysSo(service, 'a process ended, replacing it')).toBe(replaced);
    expect(saysSo(service, 'stopped')).toBeGreaterThanOrEqual(3);
  });
});
