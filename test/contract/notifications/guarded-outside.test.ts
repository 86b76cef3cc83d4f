import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createRawServer, type AddressInfo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { GuardedOutside } from '../../../src/adapters/webhooks/guarded-outside.ts';
import { startDns, type DnsServer } from '../../lab/dns/server.ts';
import type { Records } from '../../lab/dns/zone.ts';
import { until } from '../../support/until.ts';
import { type TlsPair, tlsFor } from '../../lab/authority/pebble.ts';

const name = 'hooks.birds.test';
const message = {
  headers: { 'content-type': 'application/json', 'webhook-id': 'm1' },
  body: '{"é":1}',
};
const notPublic = (host: string) => ({
  kind: 'failed',
  why: 'not_public',
  explanation: `We found no address for ${host} that we may send to. It must be in public DNS, and all its addresses must be public.`,
});

let dns: DnsServer;
let tls: TlsPair;
/** A trusted certificate, but for another name. */
let othersTls: TlsPair;
const trustedBefore = getCACertificates();
beforeAll(async () => {
  dns = await startDns();
  [tls, othersTls] = [await tlsFor(name), await tlsFor('cats.test')];
  setDefaultCACertificates([...trustedBefore, tls.cert, othersTls.cert]);
});
afterAll(() => {
  setDefaultCACertificates(trustedBefore);
  return dns.close();
});
beforeEach(() => {
  dns.setZone({});
  dns.setFaults({});
  dns.log.length = 0;
});

const opened: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(opened.splice(0).map((close) => close())));

const outside = (settings: { withinMs?: number; ownAddresses?: string[]; lab?: boolean } = {}) =>
  new GuardedOutside({
    dnsServers: dns.servers.slice(0, 1),
    rules: { allowsThisMachine: settings.lab ?? true },
    ownAddresses: settings.ownAddresses ?? [],
    // Only a guard against hanging, not a measure.
    withinMs: settings.withinMs ?? 120_000,
  });

const listening = async (
  server: Server | ReturnType<typeof createRawServer>,
  host = '127.0.0.1',
  port = 0,
) => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await once(server.listen(port, host), 'listening');
  opened.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A receiver that stores what it received. */
const receiver = (answer: RequestListener = (_, response) => void response.end('thanks')) => {
  const received: Received[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url, headers } = request;
      received.push({ url, headers, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  };
  return { received, listener };
};

/** Answers each connection with these bytes. */
const rawReceiver = async (behave: (socket: Socket) => void): Promise<string> => {
  const server = createRawServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      behave(socket);
    });
  });
  return `http://127.0.0.1:${await listening(server)}/`;
};

const alike = (records: Records) => ({ [name]: records });

describe('A request to a receiver', () => {
  test('arrives complete, and its answer comes back', async () => {
    const { received, listener } = receiver();
    const port = await listening(createServer(listener));
    const outcome = await outside().post(`http://127.0.0.1:${port}/a?b=c`, message);
    expect(outcome).toEqual({
      kind: 'answered',
      status: 200,
      beginning: 'thanks',
      tookMs: expect.any(Number),
    });
    expect(received).toEqual([
      {
        url: '/a?b=c',
        body: message.body,
        headers: {
          ...message.headers,
          host: `127.0.0.1:${port}`,
          'content-length': '8',
          'user-agent': 'animal-store',
          'accept-encoding': 'identity',
          connection: 'close',
        },
      },
    ]);
  });

  test('goes to the host name over TLS, and the certificate is checked against that name', async () => {
    const { received, listener } = receiver();
    const server = createSecureServer(tls, listener);
    let asked: unknown;
    server.on('secureConnection', (socket) => (asked = socket.servername));
    const port = await listening(server);
    dns.setZone(alike({ A: ['127.0.0.1'] }));
    const outcome = await outside().post(`https://${name}:${port}/`, message);
    expect(outcome).toMatchObject({ kind: 'answered', status: 200 });
    expect(asked).toBe(name);
    expect(received[0]?.headers.host).toBe(`${name}:${port}`);
  });

  test('uses its own connection each time', async () => {
    const server = createServer(receiver().listener);
    let connections = 0;
    server.on('connection', () => connections++);
    const url = `http://127.0.0.1:${await listening(server)}/`;
    const sender = outside();
    for (let sent = 0; sent < 3; sent++) await sender.post(url, message);
    expect(connections).toBe(3);
  });

  test('goes to the next address when the first one does not answer', async () => {
    const { listener } = receiver();
    const port = await listening(createServer(listener), '127.0.0.2');
    dns.setZone(alike({ A: ['127.0.0.1', '127.0.0.2'] }));
    const outcome = await outside().post(`http://${name}:${port}/`, message);
    expect(outcome).toMatchObject({ kind: 'answered' });
  });
});

describe('A name is refused', () => {
  test.each(['10.0.0.1', '169.254.169.254', 'fd00::1', '::ffff:a00:1'])(
    'that leads to %s',
    async (address) => {
      const zone = address.includes(':') ? { AAAA: [address] } : { A: [address] };
      dns.setZone(alike(zone));
      expect(await outside().post(`http://${name}:3000/`, message)).toMatchObject(notPublic(name));
    },
  );

  test('that leads to this machine, in production', async () => {
    const host = 'hooks.birds.example';
    const { received, listener } = receiver();
    const port = await listening(createSecureServer(tls, listener));
    dns.setZone({ [host]: { A: ['127.0.0.1'] } });
    const outcome = await outside({ lab: false }).post(`https://${host}:${port}/`, message);
    expect(outcome).toMatchObject(notPublic(host));
    expect(received).toEqual([]);
  });

  test('that leads to an address of this service', async () => {
    const here = Object.values(networkInterfaces()).flatMap((all = []) => all);
    const mine = ['198.41.0.4', '2001:503:BA3E::2:30', ...here.map(({ address }) => address)];
    const others = mine.filter((one) => !/^(127\.|::1$)/.test(one));
    for (const address of others) {
      dns.setZone(alike(address.includes(':') ? { AAAA: [address] } : { A: [address] }));
      const sender = outside({ ownAddresses: mine.slice(0, 2) });
      expect(await sender.post(`http://${name}:3000/`, message)).toMatchObject(notPublic(name));
    }
  });

  test('if even one of its addresses is private, at any position', async () => {
    const { received, listener } = receiver();
    const port = await listening(createServer(listener));
    const mixed: readonly Records[] = [
      { A: ['127.0.0.1', '10.0.0.1'] },
      { A: ['169.254.169.254', '127.0.0.1'] },
      { A: ['127.0.0.1'], AAAA: ['fd00:ec2::254'] },
      { A: [...Array<string>(20).fill('127.0.0.1'), '10.0.0.1'] },
      { A: ['127.0.0.1'], AAAA: ['::ffff:7f00:1'] },
    ];
    for (const records of mixed) {
      dns.setZone(alike(records));
      const outcome = await outside().post(`http://${name}:${port}/`, message);
      expect(outcome).toMatchObject(notPublic(name));
    }
    expect(received).toEqual([]);
  });

  test('in the same words and by the same rule whether it exists in the private network or not', async () => {
    dns.setZone(alike({ A: ['10.0.0.1'] }));
    const inside = await outside().post(`http://${name}/`, message);
    dns.setZone({});
    const nowhere = await outside().post(`http://${name}/`, message);
    dns.setZone(alike({ TXT: ['no address'] }));
    const without = await outside().post(`http://${name}/`, message);
    for (const outcome of [inside, nowhere, without])
      expect(outcome).toMatchObject(notPublic(name));
  });

  test('if its name servers fail', async () => {
    dns.setFaults({ [name]: { rcode: 'SERVFAIL' } });
    expect(await outside().post(`http://${name}/`, message)).toMatchObject({
      kind: 'failed',
      why: 'not_found',
      explanation: `The name servers for ${name} did not answer, or failed.`,
    });
  });

  test('if its name servers do not answer in time', async () => {
    dns.setFaults({ [name]: { drop: true } });
    expect(await outside({ withinMs: 300 }).post(`http://${name}/`, message)).toMatchObject({
      kind: 'failed',
      why: 'timeout',
      explanation: 'There was no complete answer within 0.3 seconds.',
    });
  });
});

test('A name is looked up once, so it cannot change between the check and the connection', async () => {
  const [good, evil] = [receiver(), receiver()];
  const port = await listening(createServer(good.listener), '127.0.0.7');
  await listening(createServer(evil.listener), '127.0.0.8', port);
  const timesAsked = (): number => dns.log.filter(({ type }) => type === 'A').length;
  dns.setZone({
    [name]: {
      get A() {
        return [timesAsked() === 1 ? '127.0.0.7' : '127.0.0.8'];
      },
    },
  });
  const outcome = await outside().post(`http://${name}:${port}/`, message);
  expect(outcome).toMatchObject({ kind: 'answered', status: 200 });
  expect([good.received.length, evil.received.length]).toEqual([1, 0]);
  expect(timesAsked()).toBe(1);
});

test('Proxy settings in the environment are ignored', async () => {
  const { received, listener } = receiver();
  const proxy = await listening(createRawServer((socket) => socket.destroy()));
  const url = `http://127.0.0.1:${await listening(createServer(listener))}/`;
  const file = new URL('../../../src/adapters/webhooks/guarded-outside.ts', import.meta.url);
  const program = `
    const { GuardedOutside } = await import(${JSON.stringify(file.href)});
    const rules = { allowsThisMachine: true };
    const outside = new GuardedOutside({ dnsServers: ['127.0.0.1'], rules, ownAddresses: [] });
    const { status } = await outside.post(${JSON.stringify(url)}, { headers: {}, body: '' });
    process.exitCode = status === 200 ? 0 : 1;`;
  const env = { NODE_USE_ENV_PROXY: '1', http_proxy: `http://127.0.0.1:${proxy}`, no_proxy: '' };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env,
    stdio: 'ignore',
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(received).toHaveLength(1);
});

test("The operating system's resolver is not used: /etc/hosts is ignored", async () => {
  // Every machine has this name in /etc/hosts, or resolves it without a name server.
  const host = 'localhost.localdomain.test';
  expect(await outside().post(`http://${host}:3000/`, message)).toMatchObject(notPublic(host));
  expect(dns.log.map((query) => query.name)).toContain(host);
});

test.each([
  ['http://birds:secret@127.0.0.1:3000/', /^Leave user and password out/],
  ['http://127.0.0.1:22/', /^Webhooks over plain HTTP go to port 80/],
  ['http://[::ffff:127.0.0.1]:3000/', /^This is not a public address/],
  ['http://0/', /^This is not a public address/],
  ['no address', /^Enter an address that begins with/],
])('An address that is not allowed is refused without a look-up: %s', async (url, explanation) => {
  const outcome = await outside().post(url, message);
  expect(outcome).toMatchObject({
    kind: 'failed',
    why: 'not_public',
    explanation: expect.stringMatching(explanation),
  });
  expect(dns.log).toEqual([]);
});

describe('An answer', () => {
  test.each([301, 302, 303, 307, 308])(
    'with the status %d is not followed as a redirect',
    async (status) => {
      const inside = receiver();
      const target = `http://127.0.0.1:${await listening(createServer(inside.listener))}/`;
      const { listener } = receiver((_, response) => {
        response.writeHead(status, { location: target }).end('moved');
      });
      const url = `http://127.0.0.1:${await listening(createServer(listener))}/`;
      expect(await outside().post(url, message)).toMatchObject({
        kind: 'answered',
        status,
        beginning: 'moved',
      });
      expect(inside.received).toEqual([]);
    },
  );

  test('is stored up to its first KiB, and read up to 64 KiB', async () => {
    let written = 0;
    let isOpen = true;
    const url = await rawReceiver((socket) => {
      socket.on('close', () => (isOpen = false));
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = (): void => {
        while (isOpen && socket.write('é'.repeat(8192))) written += 16_384;
      };
      socket.on('drain', more);
      more();
    });
    const outcome = await outside().post(url, message);
    expect(outcome).toMatchObject({ kind: 'answered', status: 200, beginning: 'é'.repeat(512) });
    // The bytes in transit: the buffers of two sockets.
    expect(written).toBeLessThan(16_777_216);
  });

  test('is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    const { listener } = receiver((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const url = `http://127.0.0.1:${await listening(createServer(listener))}/`;
    const outcome = await outside().post(url, message);
    expect(outcome).toMatchObject({
      kind: 'answered',
      beginning: bomb.subarray(0, 1024).toString(),
    });
  });

  test('with huge headers is refused', async () => {
    const url = await rawReceiver((socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`);
    });
    expect(await outside().post(url, message)).toMatchObject({
      kind: 'failed',
      why: 'too_large',
      explanation: 'The answer of 127.0.0.1 has more than 16 KiB of headers.',
    });
  });

  test.each([
    ['not HTTP', 'hello\r\n\r\n'],
    ['in HTTP/0.9', '<html>hello</html>'],
    ['with two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ])('that is %s is refused', async (_, bytes) => {
    const url = await rawReceiver((socket) => socket.end(bytes));
    expect(await outside().post(url, message)).toMatchObject({
      kind: 'failed',
      why: 'unreadable',
      explanation: '127.0.0.1 did not send a valid HTTP answer.',
    });
  });

  test.each([
    ['before it begins', ''],
    ['in its headers', 'HTTP/1.1 200 OK\r\nContent-'],
    ['in its content', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'],
    ['with a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    [
      'by another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    ],
  ])('that ends %s counts as missing', async (_, bytes) => {
    const url = await rawReceiver((socket) => socket.end(bytes));
    expect(await outside().post(url, message)).toMatchObject({
      kind: 'failed',
      why: 'reset',
      explanation:
        '127.0.0.1 closed the connection before its answer was complete, or broke its rules.',
    });
  });

  test('that is cut off by a reset counts as missing', async () => {
    const url = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', () =>
        socket.resetAndDestroy(),
      );
    });
    expect(await outside().post(url, message)).toMatchObject({ kind: 'failed', why: 'reset' });
  });

  test('may come after informational responses (1xx)', async () => {
    const url = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n');
      socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
    expect(await outside().post(url, message)).toMatchObject({ kind: 'answered', status: 204 });
  });

  const slowly: readonly (readonly [string, string, string])[] = [
    ['headers come byte by byte', 'HTTP/1.1 200 OK\r\nx: ', 'a'],
    ['content comes byte by byte', 'HTTP/1.1 200 OK\r\n\r\n', 'a'],
    ['informational responses never end', '', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ];
  test.each(slowly)('whose %s is cut off at the overall deadline', async (_, first, again) => {
    const url = await rawReceiver((socket) => {
      socket.write(first);
      void until('nobody listens', () => {
        if (!socket.destroyed) socket.write(again);
        return socket.destroyed;
      });
    });
    expect(await outside({ withinMs: 400 }).post(url, message)).toMatchObject({
      kind: 'failed',
      why: 'timeout',
    });
  });

  test('that never arrives ends when its request is cancelled, even before it began', async () => {
    const stop = new AbortController();
    const url = await rawReceiver(() => {
      stop.abort();
    });
    const cancelled = { kind: 'failed', why: 'stopped' };
    expect(await outside().post(url, message, stop.signal)).toMatchObject(cancelled);
    expect(await outside().post(url, message, stop.signal)).toMatchObject(cancelled);
  });
});

describe('A certificate', () => {
  const over = async (pair: TlsPair): Promise<unknown> => {
    const port = await listening(createSecureServer(pair, receiver().listener));
    dns.setZone(alike({ A: ['127.0.0.1'] }));
    return outside().post(`https://${name}:${port}/`, message);
  };

  test('for another name is refused', async () => {
    expect(await over(othersTls)).toMatchObject({
      why: 'tls',
      explanation: `The certificate is for another name than ${name}.`,
    });
  });

  test('that no authority signed is refused', async () => {
    expect(await over(await tlsFor(name))).toMatchObject({
      why: 'tls',
      explanation: `${name} signed its certificate itself. Get one from a public authority.`,
    });
  });

  test('is required: a receiver without TLS gets an error that says so', async () => {
    const port = await listening(createServer(receiver().listener));
    expect(await outside().post(`https://127.0.0.1:${port}/`, message)).toMatchObject({
      why: 'tls',
    });
  });
});

test('A port without a listener is refused', async () => {
  const server = createRawServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  opened.length = 0;
  expect(await outside().post(`http://127.0.0.1:${port}/`, message)).toMatchObject({
    kind: 'failed',
    why: 'refused',
  });
});
