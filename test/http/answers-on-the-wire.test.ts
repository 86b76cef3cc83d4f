import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import type { Answer } from '../../src/adapters/http/answer.ts';
import { HttpServer } from '../../src/adapters/http/listener/http-server.ts';
import { Metrics } from '../../src/adapters/http/metrics/metrics.ts';
import { requestHandler } from '../../src/adapters/http/request-handler.ts';
import { SystemClock } from '../../src/adapters/system/system-ports.ts';
import { answerFrom, exchangeBytes } from '../support/http/raw-request.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';
import { until } from '../support/until.ts';

let api: RunningApi;
let authorized: string;
beforeAll(async () => {
  api = await startApi('sqlite');
  authorized = `Authorization: Bearer ${api.account.key}`;
  await api.add('Rex');
});
afterAll(() => api.close());

const asked = (line: string, ...headers: string[]): string =>
  [`${line} HTTP/1.1`, 'Host: zoo.example', ...headers, '', ''].join('\r\n');
const rex = '{"name":"Rex","categoryId":1}';
const ofJson = ['Content-Type: application/json', `Content-Length: ${rex.length}`] as const;
const last = 'Connection: close';

test('pipelined requests are answered in order, HEAD without a body', async () => {
  const bytes = await exchangeBytes(
    api.origin,
    asked('GET /v1/pets?limit=1', authorized) +
      asked('HEAD /v1/pets?limit=1', authorized) +
      asked('POST /v1/pets', authorized, ...ofJson) +
      rex +
      asked('GET /healthz', last),
  );
  const [list, head, created, health] = bytes.split(/(?=HTTP\/1\.1 )/).map(answerFrom);
  expect(JSON.parse(list?.body ?? '')).toHaveLength(1);
  expect([head?.headers['content-length'], head?.body]).toEqual([
    list?.headers['content-length'],
    '',
  ]);
  expect(created?.status).toBe(201);
  expect(health?.body).toBe('{"status":"ok"}');
});

test.each([
  ['an absolute URL, as a proxy sends it', 'http://other.example/v1/pets?limit=1'],
  ['an address with a fragment', '/v1/pets?limit=1#top'],
])('%s returns the same list', async (_, target) => {
  const answer = answerFrom(
    await exchangeBytes(api.origin, asked(`GET ${target}`, authorized, last)),
  );
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.body)).toHaveLength(1);
});

test('a client that expects 100 Continue receives it, and then the answers to this and the next request', async () => {
  const expecting = asked('POST /v1/pets', authorized, ...ofJson, 'Expect: 100-continue');
  const next = asked('GET /v1/pets', authorized, last);
  const bytes = await exchangeBytes(api.origin, expecting + rex + next);
  expect(bytes).toMatch(
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n[^]*HTTP\/1\.1 200 OK/,
  );
});

test.each([
  ['without a key', 401, () => ofJson],
  ['with a body that is too large', 413, () => [authorized, ofJson[0], 'Content-Length: 65537']],
  ['with another type', 415, () => [authorized, 'Content-Type: text/plain', ofJson[1]]],
] as const)('a request %s is refused before it is told to continue', async (_, status, headers) => {
  const expecting = asked('POST /v1/pets', ...headers(), 'Expect: 100-continue');
  const answer = answerFrom(await exchangeBytes(api.origin, expecting));
  expect([answer.status, answer.headers['connection']]).toEqual([status, 'close']);
});

test.each(['Äffchen', 'Ωmega', '猫', '🦜 and Äffchen', 'quote " and \\ slash'])(
  'every byte of "%s" is sent, and the length counts it',
  async (name) => {
    const id = await api.add(name);
    const { text, headers } = await api.send(`/v1/pets/${id}`);
    expect(JSON.parse(text)).toMatchObject({ name });
    expect(headers.get('Content-Length')).toBe(String(Buffer.byteLength(text)));
  },
);

describe('a client that disconnects', () => {
  const leave = async (bytes: string): Promise<void> => {
    const socket = connect(Number(new URL(api.origin).port), '127.0.0.1');
    await new Promise<void>((resolve) => void socket.write(bytes, () => resolve()));
    socket.destroy();
  };

  test('in the middle of its body stores nothing and causes no error', async () => {
    const before = (await api.send('/v1/pets?limit=100')).text;
    await leave(asked('POST /v1/pets', authorized, ...ofJson) + rex.slice(0, 9));
    await leave(asked('POST /v1/pets', authorized, ...ofJson, 'Expect: 100-continue'));
    await leave(asked('GET /v1/pets', authorized).repeat(50));
    const counted = await until('the service has noticed', async () => {
      const { text } = await api.send('/metrics');
      return text.includes('_count{operation="createPet",status="400"} 2') && text;
    });
    expect(counted).not.toMatch(/status="500"/);
    expect((await api.send('/v1/pets?limit=100')).text).toBe(before);
  });
});

describe('an answer', () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line) => void lines.push(line) });
  const metrics = new Metrics();
  const clock = new SystemClock();
  const ports = { log, metrics, clock, onAnswered: () => undefined, fixedHeaders: { 'X-A': 'a' } };

  const answered = async (answer: Answer, fixedHeaders = ports.fixedHeaders) => {
    const route = { method: 'GET', path: '/', answer: () => answer } as const;
    const server = new HttpServer(requestHandler({ ...ports, fixedHeaders }, [route]));
    const port = await server.listen('127.0.0.1', 0);
    const bytes = await exchangeBytes(`http://127.0.0.1:${port}`, asked('GET /', last));
    await server.stop();
    return bytes;
  };

  test('has its own value of a header instead of the default', async () => {
    const bytes = await answered({ status: 200, headers: { 'X-A': 'b' }, body: {} });
    expect(bytes.match(/^x-a: .*$/gim)).toEqual(['X-A: b']);
  });

  test('is sent even if it cannot be recorded', async () => {
    const observe = jest.spyOn(metrics, 'observe').mockImplementation(() => {
      throw new Error('disk full');
    });
    expect(answerFrom(await answered({ status: 200, body: [] })).body).toBe('[]');
    expect(observe).toHaveBeenCalledTimes(1);
    observe.mockRestore();
  });

  test('that cannot even be refused ends its connection, not the process', async () => {
    const bytes = await answered({ status: 200, body: [] }, { 'X-A': 'Ω' }).catch(() => '');
    expect(bytes).toBe('');
    expect(lines.at(-1)).toMatch('"status":500');
  });

  test.each([
    ['a line break in a header', { Location: '/a\r\nX-Evil: 1' }],
    ['a letter that headers cannot have', { Link: '</Ω>; rel="next"' }],
  ])('becomes a logged 500 after %s', async (_, headers) => {
    const answer = answerFrom(await answered({ status: 201, headers, body: {} }));
    const id = answer.headers['x-request-id'] ?? 'absent';
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([500, { status: 500 }]);
    expect(answer.headers).toMatchObject({ 'x-a': 'a' });
    expect(answer.headers).not.toHaveProperty('x-evil');
    const told = lines
      .filter((line) => line.includes(id))
      .map((line) => JSON.parse(line) as object);
    expect(told).toMatchObject([{ level: 50, msg: 'request failed' }, { status: 500 }]);
  });
});
