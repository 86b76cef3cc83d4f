import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { AccessKey } from '../../src/app/keys.ts';
import { answerFrom, exchangeBytes, type RawAnswer } from '../support/http/raw-request.ts';
import { holdTimeouts } from '../support/held-timeouts.ts';
import { until } from '../support/until.ts';
import { startDashboard, type RunningDashboard } from '../support/dashboard/running-dashboard.ts';

let service: RunningDashboard;
let authorized: string;
let slow: Readonly<Record<'headers' | 'silence', Promise<string>>>;
beforeAll(async () => {
  service = await startDashboard();
  const { accountId } = await service.newOwner();
  const key = await service.container.get(AccessKey).createApiKey({ accountId, name: 'Raw' });
  authorized = `Authorization: Bearer ${key.secret}`;
  slow = {
    headers: exchangeBytes(service.origin, `${get}\r\n${host}\r\n`),
    silence: exchangeBytes(service.origin, ''),
  };
});
afterAll(() => service.close());
afterEach(() => void jest.useRealTimers());

const host = 'Host: zoo.example';
const ask = async (lines: readonly string[], body = ''): Promise<RawAnswer> =>
  answerFrom(await exchangeBytes(service.origin, `${lines.join('\r\n')}\r\n\r\n${body}`));

const linesOf = (id = 'absent'): readonly Record<string, unknown>[] =>
  service.log
    .filter((line) => line.includes(id))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const countOf = async (operation: string, status: number): Promise<number> => {
  const text = await (await fetch(`${service.origin}/metrics`)).text();
  const series = `http_request_duration_seconds_count{operation="${operation}",status="${status}"}`;
  const line = text.split('\n').find((one) => one.startsWith(series));
  return Number(line?.split(' ')[1] ?? 0);
};

const expectError = ({ status, headers, body }: RawAnswer, wanted: number, code: string): void => {
  expect([status, JSON.parse(body)]).toEqual([
    wanted,
    { code, message: expect.stringMatching(/^\S.{9,}/), status: wanted },
  ]);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
    'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
    'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
    'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
    ratelimit: expect.stringMatching(/^"(minute|day)";r=\d+;t=\d+$/),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    connection: 'close',
  });
  const lines = linesOf(headers['x-request-id']);
  expect(lines).toEqual([expect.objectContaining({ status: wanted })]);
};

const get = 'GET /v1/pets HTTP/1.1';
const post = 'POST /v1/pets HTTP/1.1';
const chunked = [post, host, 'Content-Type: application/json', 'Transfer-Encoding: chunked'];

describe('an unreadable request is answered like every other request of the API', () => {
  test.each([
    ['nonsense', ['nonsense']],
    ['a TLS handshake', ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03']],
    ['an unknown version', ['GET /v1/pets HTTP/9.9', host]],
    ['HTTP/2 without negotiation', ['PRI * HTTP/2.0', '', 'SM']],
    ['a folded header', [get, host, 'X-A: 1', ' 2']],
    ['a zero byte in a header', [get, host, 'X-A: \x00']],
    ['two lengths', [post, host, 'Content-Length: 2', 'Content-Length: 3']],
    ['a length beside chunks', [...chunked, 'Content-Length: 2']],
    ['another coding before chunked', [post, host, 'Transfer-Encoding: gzip, chunked']],
    [
      'codings on two lines',
      [post, host, 'Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
    ],
    ['chunks over HTTP/1.0', ['POST /v1/pets HTTP/1.0', host, 'Transfer-Encoding: chunked']],
    ['no Host', [get]],
    ['an empty Host', [get, 'Host:']],
    ['two Hosts', [get, host, 'Host: other.example']],
    ['a Host with a user', [get, 'Host: me@zoo.example']],
    ['two keys', [get, host, 'Authorization: Bearer a', 'authorization: Bearer b']],
    ['two names in one Host', [get, 'Host: zoo.example, other.example']],
  ])('%s', async (_, lines) => {
    expectError(await ask(lines), 400, 'malformed_request');
  });

  test('with too many headers', async () => {
    const answer = await ask([get, host, `X-Long: ${'x'.repeat(20_000)}`]);
    expectError(answer, 431, 'headers_too_large');
  });

  test('with an unsupported Expect header', async () => {
    expectError(await ask([get, host, 'Expect: a-miracle']), 417, 'expectation_failed');
  });

  test.each([
    [
      'chunks with more extensions than content',
      `2;${'x'.repeat(20_000)}\r\n{}`,
      'payload_too_large',
      413,
    ],
    ['a chunk with an invalid length', 'zz\r\n{}\r\n', 'malformed_request', 400],
    ['a chunk longer than its length', '1\r\n{}\r\n0\r\n\r\n', 'malformed_request', 400],
  ])('%s', async (_, body, code, status) => {
    const answer = await ask([...chunked, authorized], body);
    expect(JSON.parse(answer.body)).toMatchObject({ code, status });
    expect(answer.headers['x-ratelimit-limit']).toMatch(/^\d+$/);
    const lines = linesOf(answer.headers['x-request-id']);
    expect(lines).toEqual([
      expect.objectContaining({
        method: 'POST',
        path: '/v1/pets',
        status,
        keyId: expect.any(String),
      }),
    ]);
  });

  test('CONNECT', async () => {
    const answer = await ask(['CONNECT other.example:443 HTTP/1.1', 'Host: other.example:443']);
    expectError(answer, 405, 'method_not_allowed');
    expect(answer.headers['allow']).toBe('GET, HEAD, POST, OPTIONS');
  });

  test('and is counted in the metrics', async () => {
    const before = await countOf('none', 431);
    await ask([get, host, `X-Long: ${'x'.repeat(20_000)}`]);
    expect(await countOf('none', 431)).toBe(before + 1);
  });

  test('and does not count against the limit of its address', async () => {
    // A value that is not read in time is shown as 0.
    const left = () =>
      until('what is left is looked up', async () => {
        const { headers } = await ask(['nonsense']);
        return Number(headers['x-ratelimit-remaining']) || undefined;
      });
    const before = await left();
    expect([await left(), await left()]).toEqual([before, before]);
  });
});

describe('other refused requests', () => {
  test('a request to upgrade to another protocol is answered as plain HTTP', async () => {
    const upgrade = ['Connection: Upgrade, close', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'];
    const answer = await ask([get, host, ...upgrade]);
    expectError(answer, 401, 'missing_api_key');
  });

  test.each(['zoo.example:3000', '127.0.0.1', '[::1]:3000', 'ZOO.example.', 'my_zoo'])(
    'Host: %s is accepted',
    async (name) => {
      const { status } = await ask([get, `Host: ${name}`, 'Connection: close']);
      expect(status).toBe(401);
    },
  );

  test('HTTP/1.0 needs no Host', async () => {
    expect((await ask(['GET /v1/pets HTTP/1.0'])).status).toBe(401);
  });
});

describe('an unreadable request for a page', () => {
  test.each([
    [
      'headers that are too large',
      431,
      ['GET /dashboard/keys HTTP/1.1', host, `X: ${'x'.repeat(20_000)}`],
    ],
    ['two Hosts', 400, ['GET /dashboard HTTP/1.1', host, host]],
    ['an expectation', 417, ['GET /dashboard HTTP/1.1', host, 'Expect: a-miracle']],
  ])('is answered with a small page: %s', async (_, status, lines) => {
    const before = await countOf('dashboard', status);
    const answer = await ask(lines);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
    expect(answer.body).toMatch(/^<!doctype html>.*<h1>Request refused<\/h1>/);
    expect(linesOf(answer.headers['x-request-id'])).toEqual([expect.objectContaining({ status })]);
    expect(await countOf('dashboard', status)).toBe(before + 1);
  });

  test('keeps the secret of a link out of the log', async () => {
    const link = await service.linkFor((await service.newOwner()).email);
    await ask([`GET ${link} HTTP/1.1`, host, `X: ${'x'.repeat(20_000)}`]);
    await ask([`GET ${link} HTTP/1.1`, host, host]);
    const secret = link.replace(/.*\//, '');
    expect(service.log.filter((line) => line.includes(secret))).toEqual([]);
  });
});

describe('on a kept-alive connection', () => {
  test('an invalid request after a valid one is answered in turn, and the connection ends', async () => {
    const bytes = await exchangeBytes(
      service.origin,
      `GET /healthz HTTP/1.1\r\n${host}\r\n\r\nnonsense\r\n\r\n`,
    );
    const [good = '', bad = ''] = bytes.split(/(?=HTTP\/1\.1 400)/);
    expect(good).toMatch(/^HTTP\/1\.1 200 .*\{"status":"ok"\}$/s);
    expectError(answerFrom(bad), 400, 'malformed_request');
  });
});

test('headers that take too long are answered 408', async () => {
  expectError(answerFrom(await slow.headers), 408, 'request_timeout');
});

test('an idle connection is closed without an answer or a log line', async () => {
  expect(await slow.silence).toBe('');
  const { headers } = answerFrom(await slow.headers);
  const timeouts = linesOf('"status":408').map(({ requestId }) => requestId);
  expect(timeouts).toEqual([headers['x-request-id']]);
});

test('a body that takes longer than 30 seconds is answered 408', async () => {
  holdTimeouts();
  const head = [post, host, 'Content-Type: application/json', 'Content-Length: 20', authorized];
  const answering = ask(head, '{');
  const notYet = async () => {
    await jest.advanceTimersByTimeAsync(1000);
    return turn(undefined);
  };
  let seconds = 1;
  while ((await Promise.race([answering, notYet()])) === undefined) seconds += 1;
  expect(seconds).toBeGreaterThanOrEqual(30);
  const { body, headers } = await answering;
  expect(JSON.parse(body)).toMatchObject({ code: 'request_timeout', status: 408 });
  expect(headers['x-ratelimit-limit']).toMatch(/^\d+$/);
  expect(linesOf(headers['x-request-id'])).toEqual([
    expect.objectContaining({ method: 'POST', path: '/v1/pets', status: 408 }),
  ]);
});
