import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { closed, protocols, requestIn } from '../support/http/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';

const wildcard = '*.shop.test';
const owner = 'proj_owner';
const stranger = 'proj_stranger';
const refused = { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' };

let edge: RunningEdge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());
beforeEach(() => edge.publish(wildcard, { 'index.html': 'wildcard' }, owner));
afterEach(async () => {
  for (const host of [wildcard, 'blog.shop.test', 'shop.test', 'a.b.shop.test'])
    await edge.remove(host);
});

const publishExact = (project = stranger, host = 'blog.shop.test') =>
  edge.publish(host, { 'index.html': `exact of ${project}` }, project);

const bodyOf = async (host: string, protocol: (typeof protocols)[number] = 'HTTP/1.1') =>
  String((await edge.visit(protocol, host, '/')).body);

const namesIn = (socket: TLSSocket): string | undefined =>
  socket.getPeerCertificate().subjectaltname;

const visitors = async (host: string) => {
  const session = await edge.session(host);
  await requestIn(session, '/');
  const socket = await edge.connect(host);
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await once(socket, 'data');
  return { session, socket, ends: Promise.all([closed(session), closed(socket)]) };
};

describe.each(protocols)('over %s a wildcard', (protocol) => {
  test('serves each name that it covers, with its certificate', async () => {
    for (const host of ['a.shop.test', 'B.Shop.Test', 'xn--grn-hoa.shop.test', '0.shop.test'])
      expect(await bodyOf(host, protocol)).toBe('wildcard');
    const socket = await edge.connect('a.shop.test');
    expect(namesIn(socket)).toBe(`DNS:${wildcard}`);
    socket.destroy();
  });

  test('leaves a covered name that is a separate domain to that domain, with its certificate and site', async () => {
    await publishExact();
    expect(await bodyOf('blog.shop.test', protocol)).toBe(`exact of ${stranger}`);
    expect(await bodyOf('a.shop.test', protocol)).toBe('wildcard');
    const socket = await edge.connect('blog.shop.test');
    expect(namesIn(socket)).toBe('DNS:blog.shop.test');
    socket.destroy();
  });

  test("serves a covered name at the next request after that name's own domain was removed", async () => {
    await publishExact();
    const { ends } = await visitors('blog.shop.test');
    await edge.remove('blog.shop.test');
    await ends;
    expect(await bodyOf('blog.shop.test', protocol)).toBe('wildcard');
  });

  test.each(['blog.shop.test', 'b.shop.test', 'shop.test', 'a.b.shop.test', 'unknown.test'])(
    'answers 421 to a request for %s on a connection for one of its names',
    async (host) => {
      await publishExact();
      const session = await edge.session('a.shop.test');
      const lines = ['GET / HTTP/1.1', `Host: ${host}`, 'Connection: close'];
      const answer =
        protocol === 'HTTP/2'
          ? (await requestIn(session, '/', { headers: { ':authority': host } })).status
          : Number((await edge.raw('a.shop.test', lines)).split(' ')[1]);
      session.close();
      expect(answer).toBe(421);
    },
  );

  test('is not reached over the connection of a covered name that is a separate domain', async () => {
    await publishExact();
    const session = await edge.session('blog.shop.test');
    const headers = { ':authority': 'a.shop.test' };
    expect((await requestIn(session, '/', { headers })).status).toBe(421);
    session.close();
  });
});

describe('a wildcard', () => {
  test.each(['shop.test', 'a.b.shop.test', wildcard, '*.a.shop.test', '.shop.test', 'ashop.test'])(
    'does not cover %s',
    async (host) => {
      await expect(edge.connect(host)).rejects.toMatchObject(refused);
    },
  );

  test('redirects from HTTP to HTTPS for each of its names, and no other', async () => {
    const locationOf = async (host: string) =>
      /^Location: (.*)\r$/m.exec(
        await edge.plain(['GET /a?b HTTP/1.1', `Host: ${host}`, 'Connection: close']),
      )?.[1];
    expect(await locationOf('a.shop.test')).toBe('https://a.shop.test/a?b');
    expect(await locationOf('a.b.shop.test')).toBeUndefined();
    expect(await locationOf('shop.test')).toBeUndefined();
  });

  test('that redirects sends each of its names to the target, with path and query', async () => {
    await edge.setRoute({
      name: wildcard,
      projectId: owner,
      kind: 'redirect',
      to: 'https://shop.test',
      status: 308,
    });
    await edge.routes.refresh();
    const { status, headers } = await edge.get('a.shop.test', '/x?y');
    expect([status, headers['location']]).toEqual([308, 'https://shop.test/x?y']);
  });

  test('does not serve its certificate for a separate domain below it that has none', async () => {
    await edge.setRoute({
      name: 'blog.shop.test',
      projectId: stranger,
      kind: 'site',
      deployId: 'dep_none',
    });
    await edge.routes.refresh();
    await expect(edge.connect('blog.shop.test')).rejects.toMatchObject(refused);
  });
});

describe('once a wildcard is removed', () => {
  test('all its connections close, for every name, and new ones are refused', async () => {
    const all = [await visitors('a.shop.test'), await visitors('b.shop.test')];
    await edge.remove(wildcard);
    await Promise.all(all.map(({ ends }) => ends));
    for (const host of ['a.shop.test', 'b.shop.test'])
      await expect(edge.connect(host)).rejects.toMatchObject(refused);
    const lines = ['GET / HTTP/1.1', 'Host: a.shop.test', 'Connection: close'];
    expect(await edge.plain(lines)).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('by another process, all its connections close', async () => {
    const all = [await visitors('a.shop.test'), await visitors('b.shop.test')];
    await edge.forget(wildcard);
    await Promise.all(all.map(({ ends }) => ends));
  });

  test('a connection that it served closes, even if the name has its own site in the same project', async () => {
    const before = await visitors('blog.shop.test');
    await publishExact(owner);
    const { body } = await requestIn(before.session, '/');
    expect(String(body)).toBe(`exact of ${owner}`);
    const own = await visitors('blog.shop.test');
    await edge.remove(wildcard);
    await before.ends;
    expect((await requestIn(own.session, '/')).status).toBe(200);
    own.session.close();
    own.socket.destroy();
  });

  test('and given to another project before any edge noticed, all its connections close', async () => {
    const { ends } = await visitors('a.shop.test');
    await edge.forget(wildcard);
    await edge.publish(wildcard, { 'index.html': 'of the next' }, stranger);
    await ends;
    expect(await bodyOf('a.shop.test')).toBe('of the next');
  });
});

describe('once a name below a wildcard belongs to another account', () => {
  test('connections for that name close, and those for other names stay', async () => {
    const [gone, kept] = [await visitors('blog.shop.test'), await visitors('a.shop.test')];
    await publishExact();
    await gone.ends;
    expect(String((await requestIn(kept.session, '/')).body)).toBe('wildcard');
    expect(kept.socket.readyState).toBe('open');
    expect(await bodyOf('blog.shop.test')).toBe(`exact of ${stranger}`);
    kept.session.close();
    kept.socket.destroy();
  });

  /** A request whose handshake pauses after its first message. @returns the answer after the change */
  const heardOf = async (host: string, change: () => Promise<void>): Promise<string> => {
    const held = holdingBack(edge.ports.https);
    const socket = connectTls({ socket: held.stream, servername: host, rejectUnauthorized: false });
    let heard = '';
    socket.on('data', (data) => (heard += String(data)));
    const ends = closed(socket);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    await held.begun;
    await change();
    held.goOn();
    await ends;
    return heard;
  };

  test('a connection for that name closes even if its handshake began before', async () => {
    expect(await heardOf('blog.shop.test', () => Promise.resolve())).toMatch(/wildcard$/);
    expect(await heardOf('blog.shop.test', () => publishExact())).toBe('');
    expect(await bodyOf('blog.shop.test')).toBe(`exact of ${stranger}`);
  });

  test('a connection whose handshake began before the wildcard was removed closes', async () => {
    expect(await heardOf('a.shop.test', () => edge.remove(wildcard))).toBe('');
  });

  test("a connection whose handshake began before a name moved to another project gets that project's site", async () => {
    await publishExact();
    const before = await visitors('blog.shop.test');
    const moves = () =>
      edge.publish('blog.shop.test', { 'index.html': 'of the next' }, 'proj_next');
    expect(await heardOf('blog.shop.test', moves)).toMatch(/of the next$/);
    await before.ends;
  });
});

/** A connection that sends only the first message of a handshake until it may continue. */
const holdingBack = (port: number) => {
  const tcp = connectTcp(port, '127.0.0.1');
  const [answered, allowed] = [
    Promise.withResolvers<undefined>(),
    Promise.withResolvers<undefined>(),
  ];
  let sent = 0;
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      sent += 1;
      void (sent === 1 ? Promise.resolve() : allowed.promise).then(() => tcp.write(chunk, done));
    },
    destroy: (error, done) => {
      tcp.destroy();
      done(error);
    },
  });
  tcp.on('data', (chunk) => {
    answered.resolve(undefined);
    stream.push(chunk);
  });
  tcp.on('close', () => stream.destroy()).on('error', () => undefined);
  return { stream, begun: answered.promise, goOn: () => allowed.resolve(undefined) };
};
