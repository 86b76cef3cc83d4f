import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { protocols, requestIn } from '../support/http/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { until } from '../support/until.ts';
import { now } from '../support/accounts.ts';

const warn = 40;

let edge: RunningEdge;
beforeEach(async () => {
  edge = await startEdge();
});
afterEach(() => edge.close());

const textAt = async (host: string, path = '/'): Promise<string> =>
  String((await edge.get(host, path)).body);

describe('a new deploy', () => {
  test('is served from the next request on, even on open connections', async () => {
    await edge.publish('rex.test', { 'index.html': 'one', 'old.html': 'old' });
    const session = await edge.session('rex.test');
    expect(String((await requestIn(session, '/')).body)).toBe('one');
    await edge.publish('rex.test', { 'index.html': 'two' });
    expect(String((await requestIn(session, '/')).body)).toBe('two');
    expect((await requestIn(session, '/old.html')).status).toBe(404);
    expect(await textAt('rex.test')).toBe('two');
    session.close();
  });

  test('is no longer served after a rollback', async () => {
    const deployId = await edge.store('rex.test', { 'index.html': 'one' });
    await edge.publish('rex.test', { 'index.html': 'two' });
    expect(await textAt('rex.test')).toBe('two');
    await edge.setRoute({ name: 'rex.test', projectId: 'proj-rex.test', kind: 'site', deployId });
    await edge.routes.refresh();
    expect(await textAt('rex.test')).toBe('one');
  });

  test('by another process is served without a notification', async () => {
    await edge.publish('rex.test', { 'index.html': 'one' });
    const deployId = await edge.store('rex.test', { 'index.html': 'two' });
    await until('it is known', () => {
      const route = edge.routes.find('rex.test');
      return route?.kind === 'site' && route.deployId === deployId;
    });
    expect(await textAt('rex.test')).toBe('two');
  });

  test('with missing files answers 503, and other sites are not affected', async () => {
    const deployId = await edge.store('rex.test', { 'index.html': 'one' });
    await edge.publish('tom.test', { 'index.html': 'Tom' });
    await edge.files.remove(deployId);
    expect((await edge.get('rex.test', '/')).status).toBe(503);
    expect(await textAt('tom.test')).toBe('Tom');
    expect(edge.server.state()).toMatchObject({ requests: 2, failedRequests: 1 });
  });
});

describe('a renewed certificate', () => {
  test('is presented to new visitors, while old connections continue', async () => {
    await edge.publish('rex.test', { 'index.html': 'Rex' });
    const serialOf = async (): Promise<string | undefined> => {
      const socket = await edge.connect('rex.test');
      const { serialNumber } = socket.getPeerX509Certificate() ?? {};
      socket.destroy();
      return serialNumber;
    };
    const session = await edge.session('rex.test');
    const before = await serialOf();
    const renewed = await edge.issue('rex.test');
    await edge.setCertificate(renewed);
    await edge.routes.refresh();
    const after = await serialOf();
    expect(after).toBe(new X509Certificate(renewed.chain).serialNumber);
    expect(after).not.toBe(before);
    expect((await requestIn(session, '/')).status).toBe(200);
    session.close();
  });

  test('is used at once even if it arrives after the route', async () => {
    await edge.publish('rex.test', { 'index.html': 'Rex' });
    await edge.removeCertificate('rex.test', now);
    await edge.routes.refresh();
    await expect(edge.connect('rex.test')).rejects.toThrow('unrecognized name');
    await edge.setCertificate(await edge.issue('rex.test'));
    await edge.routes.refresh();
    expect(await textAt('rex.test')).toBe('Rex');
  });
});

describe('while the records are unavailable', () => {
  const looked = async (times: number): Promise<void> => {
    const before = edge.records.looks;
    await until('it looked again', () => edge.records.looks >= before + times);
  };

  test('known sites are served, one log line reports it, and the edge recovers automatically', async () => {
    await edge.publish('rex.test', { 'index.html': 'Rex' });
    edge.records.isAway = true;
    await looked(2);
    for (const protocol of protocols) {
      expect((await edge.visit(protocol, 'rex.test', '/')).status).toBe(200);
    }
    await expect(edge.routes.refresh()).rejects.toThrow('The test cannot be reached');
    expect(edge.logged).toEqual([expect.objectContaining({ level: warn })]);
    await edge.store('tom.test', { 'index.html': 'Tom' });
    await edge.forget('rex.test');
    edge.records.isAway = false;
    await until('it knows', () => edge.routes.find('tom.test') && !edge.routes.find('rex.test'));
    expect(await textAt('tom.test')).toBe('Tom');
    await until('it says so', () => edge.logged.length > 1);
    expect(edge.logged.map(({ level, msg }) => [level, msg])).toEqual([
      [warn, 'routes not refreshed, serving the known ones'],
      [30, 'routes are refreshed again'],
    ]);
  });
});

describe('while the storage is unavailable', () => {
  test('files in memory are served, others get 503, and the edge recovers automatically', async () => {
    await edge.publish('rex.test', {
      'index.html': 'Rex',
      'other.html': 'other',
      'large.bin': new Uint8Array(1_000_000),
    });
    await edge.publish('tom.test', { 'index.html': 'Tom' });
    expect(await textAt('rex.test')).toBe('Rex');
    edge.files.isAway = true;
    expect(await textAt('rex.test')).toBe('Rex');
    for (const protocol of protocols) {
      for (const [host, path] of [
        ['rex.test', '/other'],
        ['rex.test', '/large.bin'],
        ['tom.test', '/'],
      ] as const) {
        const answer = await edge.visit(protocol, host, path);
        expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
        expect(String(answer.body)).toBe('503 Service Unavailable\n');
        expect(answer.headers['cache-control']).toBe('no-store');
      }
      const headers = { Range: 'bytes=0-9' };
      const part = await edge.visit(protocol, 'rex.test', '/other', { headers });
      expect(part.status).toBe(503);
    }
    expect(edge.logged.filter(({ level }) => level > warn)).toEqual([]);
    edge.files.isAway = false;
    expect(await textAt('tom.test')).toBe('Tom');
    expect((await edge.get('rex.test', '/large.bin')).body).toHaveLength(1_000_000);
  });
});

test('ten thousand hosts are found, and their changes are followed', async () => {
  const deployId = await edge.store('rex.test', { 'index.html': 'Rex' });
  await edge.stores.together(async () => {
    for (let at = 0; at < 10_000; at++) {
      await edge.setRoute({ name: `site-${at}`, projectId: 'proj_all', kind: 'site', deployId });
    }
  });
  await edge.routes.refresh();
  expect(edge.routes.size).toBe(10_001);
  expect(edge.server.state().hosts).toBe(10_001);
  await edge.setCertificate(await edge.issue('site-9999.sites.test'));
  await edge.removeRoute('site-5000', now);
  await edge.routes.refresh();
  expect(await textAt('site-9999.sites.test')).toBe('Rex');
  expect(edge.routes.find('site-5000.sites.test')).toBeUndefined();
});
