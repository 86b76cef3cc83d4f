import { once } from 'node:events';
import { Agent } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { closed, requestIn } from '../support/http/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { until } from '../support/until.ts';

const versions = ['TLSv1.2', 'TLSv1.3'] as const;
const refused = { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' };
const request = (host: string, path = '/') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

let edge: RunningEdge;
let deployId: string;
beforeAll(async () => {
  edge = await startEdge();
  await edge.publish('tom.test', { 'index.html': 'Tom' });
  const contents = { 'index.html': 'Rex', 'large.bin': new Uint8Array(20_000_000) };
  deployId = await edge.store('rex.test', contents);
});
afterAll(() => edge.close());
beforeEach(async () => {
  await edge.setRoute({ name: 'rex.test', projectId: 'proj-rex.test', kind: 'site', deployId });
  await edge.setCertificate(await edge.issue('rex.test'));
  await edge.routes.refresh();
});

/** A connection over which a page was served. */
const usedConnection = async (
  host: string,
  options: Parameters<RunningEdge['connect']>[1] = {},
): Promise<TLSSocket> => {
  const socket = await edge.connect(host, options);
  socket.write(request(host));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  return socket;
};

describe('once a host is removed', () => {
  test.each(versions)('a new connection of %s is refused', async (version) => {
    const as = { minVersion: version, maxVersion: version };
    (await edge.connect('rex.test', as)).destroy();
    await edge.remove('rex.test');
    await expect(edge.connect('rex.test', as)).rejects.toMatchObject(refused);
  });

  test('plain HTTP no longer redirects', async () => {
    const lines = ['GET / HTTP/1.1', 'Host: rex.test', 'Connection: close'];
    expect(await edge.plain(lines)).toMatch(/^HTTP\/1\.1 308 /);
    await edge.remove('rex.test');
    expect(await edge.plain(lines)).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('its connections are closed without an answer, used or not', async () => {
    const sockets = [await usedConnection('rex.test'), await edge.connect('rex.test')];
    let heard = '';
    for (const socket of sockets) socket.on('data', (data) => (heard += String(data)));
    const ends = Promise.all(sockets.map(closed));
    await edge.remove('rex.test');
    for (const socket of sockets) socket.write(request('rex.test'));
    await ends;
    expect(heard).toBe('');
  });

  test('its HTTP/2 sessions end, with their open requests', async () => {
    const session = await edge.session('rex.test');
    expect((await requestIn(session, '/')).status).toBe(200);
    const stream = session.request({ ':path': '/large.bin' });
    await once(stream, 'response');
    const ends = Promise.all([closed(session), closed(stream)]);
    const received = text(stream).catch(() => 'broken');
    await edge.remove('rex.test');
    await ends;
    expect((await received).length).toBeLessThan(20_000_000);
    await expect(requestIn(session, '/')).rejects.toThrow('destroyed');
  });

  test('a download is cut, and its open file is released', async () => {
    const socket = await edge.connect('rex.test');
    socket.write(request('rex.test', '/large.bin'));
    await once(socket, 'readable');
    const end = closed(socket);
    await edge.remove('rex.test');
    socket.resume();
    await end;
    expect(socket.bytesRead).toBeLessThan(20_000_000);
    await until('nothing is read any more', () => edge.files.open === 0);
  });

  // Over HTTP/1.1, where the client writes nothing more: a write may take the error that the next read would show.
  test('what the system has already accepted for its visitors is dropped', async () => {
    const socket = await edge.connect('rex.test');
    socket.write(request('rex.test', '/large.bin'));
    await once(socket, 'readable');
    const end = once(socket, 'error');
    await edge.remove('rex.test');
    socket.resume();
    expect(await end).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
  });

  test.each(versions)('a visitor with an earlier %s session gets no answer', async (version) => {
    const as = { minVersion: version, maxVersion: version };
    const session = (await usedConnection('rex.test', as)).getSession()!;
    const again = await usedConnection('rex.test', { ...as, session });
    const end = closed(again);
    await edge.remove('rex.test');
    await end;
    const late = edge.connect('rex.test', { ...as, session });
    await expect(late).rejects.toHaveProperty('code', 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
  });

  test.each(versions)(
    'a %s session is never resumed, so every connection names its host',
    async (version) => {
      const as = { minVersion: version, maxVersion: version };
      const first = await usedConnection('rex.test', as);
      const second = await usedConnection('rex.test', { ...as, session: first.getSession()! });
      expect([first.isSessionReused(), second.isSessionReused()]).toEqual([false, false]);
    },
  );

  test.each(versions)('its %s session cannot open an unknown host', async (version) => {
    const as = { minVersion: version, maxVersion: version };
    const session = (await usedConnection('rex.test', as)).getSession()!;
    const other = await edge.connect('unknown.test', { ...as, session }).catch(() => undefined);
    other?.write(request('unknown.test'));
    expect(other ? await text(other).catch(() => '') : '').toBe('');
  });

  test('other hosts are not affected', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const session = await edge.session('tom.test');
    const socket = await usedConnection('tom.test');
    await edge.get('tom.test', '/', { agent });
    const kept = Object.values(agent.freeSockets).flat();
    await edge.remove('rex.test');
    expect((await requestIn(session, '/')).status).toBe(200);
    expect((await edge.get('tom.test', '/', { agent })).status).toBe(200);
    expect(Object.values(agent.freeSockets).flat()).toEqual(kept);
    expect(socket.readyState).toBe('open');
    session.close();
    agent.destroy();
    socket.destroy();
  });

  test('by another process, this process stops serving it without a notification', async () => {
    const socket = await usedConnection('rex.test');
    const session = await edge.session('rex.test');
    const ends = Promise.all([closed(socket), closed(session)]);
    await edge.forget('rex.test');
    await ends;
    await expect(edge.connect('rex.test')).rejects.toMatchObject(refused);
  });

  test('and published again, only the new site is served', async () => {
    const old = await edge.get('rex.test', '/');
    const socket = await usedConnection('rex.test');
    const end = closed(socket);
    await edge.remove('rex.test');
    await end;
    await edge.publish('rex.test', { 'index.html': 'Rex II' });
    const headers = { 'If-None-Match': old.headers['etag'] as string };
    const answer = await edge.get('rex.test', '/', { headers });
    expect([answer.status, String(answer.body)]).toEqual([200, 'Rex II']);
    expect((await edge.get('rex.test', '/large.bin')).status).toBe(404);
  });

  test('and given to another project before any edge noticed, its connections are closed too', async () => {
    const socket = await usedConnection('rex.test');
    const end = closed(socket);
    await edge.forget('rex.test');
    await edge.publish('rex.test', { 'index.html': 'of another project' }, 'proj_other');
    await end;
    expect(String((await edge.get('rex.test', '/')).body)).toBe('of another project');
  });
});
