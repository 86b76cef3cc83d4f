import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Unavailable } from '../../src/kernel/ports.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { until } from '../support/until.ts';

const token = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJyPCt92wr-oA';
const keyAuthorization = `${token}.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI`;
const prefix = '/.well-known/acme-challenge/';

let isAway: boolean;
let asked: string[];
let gate: Promise<void>;
let edges: RunningEdge[];
beforeEach(async () => {
  isAway = false;
  asked = [];
  gate = Promise.resolve();
  edges = [await startEdge({ answer }), await startEdge({ answer })];
  await store('rex.test');
});
afterEach(() => Promise.all(edges.map((edge) => edge.close())));

const answer = async (host: string, wanted: string): Promise<string | undefined> => {
  asked.push(`${host} ${wanted}`);
  await gate;
  if (isAway) throw new Unavailable('The test', new Error('it is away'));
  return orders().answer(host, wanted);
};

const store = async (host: string): Promise<void> => {
  await orders().begin({ authority: '', subject: host, host, privateKey: 'none' });
  await orders().publish(host, { token, keyAuthorization });
};

const first = (): RunningEdge => edges[0]!;
const orders = () => first().stores.certificateOrders;

const ask = (
  target: string,
  { host = 'rex.test', method = 'GET', edge = first() } = {},
): Promise<string> =>
  edge.plain([`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close']);

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
const bodyOf = (text: string): string | undefined => text.split('\r\n\r\n')[1];

describe('a challenge', () => {
  test('is answered with its value only, over plain HTTP and without a redirect', async () => {
    const text = await ask(prefix + token);
    expect([statusOf(text), bodyOf(text)]).toEqual([200, keyAuthorization]);
    expect(text).toContain('\r\nContent-Type: application/octet-stream\r\n');
    expect(text).toContain(`\r\nContent-Length: ${keyAuthorization.length}\r\n`);
    expect(text).toContain('\r\nCache-Control: no-store\r\n');
    expect(text).not.toMatch(/\r\nLocation:/i);
  });

  test('is answered to HEAD with the same headers and no body', async () => {
    const undated = (text: string) => text.replace(/Date: .*\r\n/, '');
    const [got, head] = [
      await ask(prefix + token),
      await ask(prefix + token, { method: 'HEAD' }),
    ].map(undated);
    expect(got).toBe(`${head!}${keyAuthorization}`);
  });

  test('is answered before its host has a route, so that a domain can get its first certificate', async () => {
    expect(first().routes.find('rex.test')).toBeUndefined();
    expect(statusOf(await ask('/'))).toBe(404);
    expect(statusOf(await ask(prefix + token))).toBe(200);
  });

  test('is answered while its host is served, so that the certificate can be renewed', async () => {
    await first().publish('rex.test', { [prefix.slice(1) + token]: 'a file of the site' });
    expect(bodyOf(await ask(prefix + token))).toBe(keyAuthorization);
    expect(statusOf(await ask('/'))).toBe(308);
  });

  test('is answered for its own host only: the same token is unknown for any other host', async () => {
    for (const host of ['tom.test', 'www.rex.test', 'test', '127.0.0.1']) {
      const text = await ask(prefix + token, { host });
      expect([host, statusOf(text), bodyOf(text)]).toEqual([host, 404, '404 Not Found\n']);
    }
  });

  test.each(['REX.Test', 'rex.test:80', 'rex.test.'])(
    'is found when its host is written as "%s"',
    async (host) => {
      expect(bodyOf(await ask(prefix + token, { host }))).toBe(keyAuthorization);
    },
  );

  test('is answered whatever the query string is', async () => {
    for (const query of ['?', '?a=b', '?/../x', '?a?b']) {
      expect(bodyOf(await ask(prefix + token + query))).toBe(keyAuthorization);
    }
    expect(new Set(asked)).toEqual(new Set([`rex.test ${token}`]));
  });

  test('is answered by every edge as soon as it is stored, and by none after it is deleted', async () => {
    const bodies = () =>
      Promise.all(edges.map((edge) => ask(prefix + token, { edge }).then(bodyOf)));
    await orders().forget('rex.test');
    expect(await bodies()).toEqual(['404 Not Found\n', '404 Not Found\n']);
    await store('rex.test');
    expect(await bodies()).toEqual([keyAuthorization, keyAuthorization]);
  });

  test('is 404 while another one is stored', async () => {
    const text = await ask(`${prefix}${token.slice(0, -1)}B`);
    expect([statusOf(text), bodyOf(text)]).toEqual([404, '404 Not Found\n']);
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['no token', ''],
    ['fewer than 128 bits', 'a'.repeat(21)],
    ['a token longer than any', 'a'.repeat(129)],
    ['a path', `${token}/`],
    ['a path that leads out', `../acme-challenge/${token}`],
    ['a dot', keyAuthorization],
    ['escaped characters', `%65${token.slice(1)}`],
    ['other letters', `${token.slice(1)}~`],
    ['padding', `${token}=`],
  ])('is 404 and not looked up when its token has %s', async (_, malformed) => {
    expect(statusOf(await ask(prefix + malformed))).toBe(404);
    expect(asked).toEqual([]);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
    'is 405 for %s and not looked up',
    async (method) => {
      const text = await ask(prefix + token, { method });
      expect(statusOf(text)).toBe(405);
      expect(text).toContain('\r\nAllow: GET, HEAD\r\n');
      expect(asked).toEqual([]);
    },
  );

  test('is not answered over HTTPS', async () => {
    await first().publish('rex.test', { 'index.html': 'Rex' });
    expect((await first().get('rex.test', prefix + token)).status).toBe(404);
    expect(asked).toEqual([]);
  });
});

describe('while the database is unavailable', () => {
  test('a challenge is answered 503, known hosts still redirect, and the edge recovers automatically', async () => {
    await first().publish('rex.test', { 'index.html': 'Rex' });
    isAway = true;
    for (const method of ['GET', 'HEAD']) {
      const text = await ask(prefix + token, { method });
      expect(statusOf(text)).toBe(503);
      expect(text).toContain('\r\nRetry-After: 1\r\n');
    }
    expect(statusOf(await ask('/'))).toBe(308);
    isAway = false;
    expect(bodyOf(await ask(prefix + token))).toBe(keyAuthorization);
  });
});

describe('a flood of challenges', () => {
  const most = 100;

  const flood = async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    gate = promise;
    const waiting = Array.from({ length: most }, () => ask(prefix + token));
    await until('all are looked up', () => asked.length === most);
    return { waiting, release: () => resolve(undefined) };
  };

  test('does not reach the database: the excess gets 503, and the rest is answered', async () => {
    const { waiting, release } = await flood();
    const late = await ask(prefix + token);
    expect([statusOf(late), asked.length]).toEqual([503, most]);
    expect(late).toContain('\r\nRetry-After: 1\r\n');
    release();
    for (const text of await Promise.all(waiting)) expect(bodyOf(text)).toBe(keyAuthorization);
    expect(statusOf(await ask(prefix + token))).toBe(200);
  });

  test('frees its places when the lookups fail', async () => {
    const { waiting, release } = await flood();
    isAway = true;
    release();
    for (const text of await Promise.all(waiting)) expect(statusOf(text)).toBe(503);
    isAway = false;
    expect(statusOf(await ask(prefix + token))).toBe(200);
  });

  test('does not affect visitors of sites', async () => {
    await first().publish('rex.test', { 'index.html': 'Rex' });
    const { waiting, release } = await flood();
    expect(statusOf(await ask('/'))).toBe(308);
    expect((await first().get('rex.test', '/')).status).toBe(200);
    release();
    await Promise.all(waiting);
  });
});
