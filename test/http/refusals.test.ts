import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rawRequest } from '../support/http/raw-request.ts';
import { startApi, type Answer, type Call, type RunningApi } from '../support/http/running-api.ts';

const rex = '{"name":"Rex","categoryId":1}';
const bytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(text, 'latin1'));

describe('a request is refused', () => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi('sqlite');
  });
  afterAll(() => api.close());

  const post = (body: Call['body'], headers = {}): Promise<Answer> =>
    api.send('/v1/pets', { method: 'POST', headers, ...(body !== undefined && { body }) });

  const expectCode = ({ status, body }: Answer, wanted: number, code: string): void => {
    expect(body).toMatchObject({ code });
    expect(status).toBe(wanted);
  };

  test.each([
    ['nothing', ''],
    ['spaces', ' \r\n '],
    ['an object without an end', '{"name":"Rex"'],
    ['two values', `${rex}${rex}`],
    ['a number with a leading zero', '{"name":"Rex","categoryId":00000000000000000001}'],
    ['a byte order mark', bytes(`\xef\xbb\xbf${rex}`)],
    ['a byte that is not UTF-8', bytes('{"name":"R\xffx","categoryId":1}')],
    ['half a UTF-8 character', bytes('{"name":"R\xc3","categoryId":1}')],
    ['an overlong encoding', bytes('{"name":"R\xc0\xafx","categoryId":1}')],
    ['UTF-16', Uint8Array.from(Buffer.from(rex, 'utf16le'))],
    ['lists nested without an end', '['.repeat(60_000)],
    [
      'lists nested too deep for exact numbers',
      `{"x":12345678901234567890,"y":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
    ],
  ])('when its body is not JSON in UTF-8: %s', async (_, body) => {
    expectCode(await post(body), 400, 'malformed_json');
  });

  test('when its body is not UTF-8, with a message that says so', async () => {
    const { body } = await post(bytes('{"name":"R\xffx","categoryId":1}'));
    expect(body).toMatchObject({ message: 'The body is not valid UTF-8. Send JSON in UTF-8.' });
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonx',
    'application/json5',
    'application/merge-patch+json',
    'text/json',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    '',
  ])('when its media type is "%s"', async (type) => {
    expectCode(await post(rex, { 'Content-Type': type }), 415, 'unsupported_media_type');
  });

  test.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x'])(
    'when its content encoding is %s',
    async (encoding) => {
      const refused = await post(rex, { 'Content-Encoding': encoding });
      expectCode(refused, 415, 'unsupported_media_type');
    },
  );

  test.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json; charset="UTF-8"',
  ])('but not when its media type is %s', async (type) => {
    expect((await post(rex, { 'Content-Type': type, 'Content-Encoding': 'identity' })).status).toBe(
      201,
    );
  });

  const ofSize = (size: number): string => {
    const empty = '{"name":"Rex","categoryId":1,"x":""}';
    return empty.replace('""', `"${'x'.repeat(size - empty.length)}"`);
  };
  const inChunks = (body: string) => new Blob([body]).stream();

  test.each([
    ['with Content-Length', (body: string) => body],
    ['in chunks', inChunks],
  ])('when its body is larger than 64 KiB, but not at 64 KiB, %s', async (_, sent) => {
    expect((await post(sent(ofSize(65_536)))).status).toBe(201);
    const refused = await post(sent(ofSize(65_537)));
    expectCode(refused, 413, 'payload_too_large');
    expect(refused.headers.get('Connection')).toBe('close');
  });

  test('when its Content-Length is too large, before any of the body arrives', async () => {
    const answer = await rawRequest(api.origin, [
      'POST /v1/pets HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${api.account.key}`,
      'Content-Type: application/json',
      'Content-Length: 1000000000',
    ]);
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer).toContain('"code":"payload_too_large"');
  });

  test.each([
    ...['/', '/v1', '/v1/nope', '/v2/pets', '/pets', '/v1/pets/1/2', '/v1/store', '//v1/pets'],
    ...['/v1/pets;x=1', '/docs/nope.js', '/.env'],
  ])('when the path does not exist: %s', async (path) => {
    expectCode(await api.send(path), 404, 'route_not_found');
    expectCode(await api.send(path, { key: null, method: 'DELETE' }), 404, 'route_not_found');
  });

  test.each([
    ['/v1/pets', ['PUT', 'PATCH', 'DELETE'], 'GET, HEAD, POST, OPTIONS'],
    ['/v1/pets/1', ['POST', 'PUT', 'PATCH', 'DELETE'], 'GET, HEAD, OPTIONS'],
    ['/v1/store/orders', ['POST', 'DELETE'], 'GET, HEAD, OPTIONS'],
    ['/v1/openapi.json', ['POST'], 'GET, HEAD, OPTIONS'],
    ['/healthz', ['POST'], 'GET, HEAD, OPTIONS'],
  ])(
    'when %s does not accept its method, and Allow lists those that it accepts',
    async (path, verbs, allow) => {
      for (const method of verbs) {
        const answer = await api.send(path, { method });
        expectCode(answer, 405, 'method_not_allowed');
        expect(answer.headers.get('Allow')).toBe(allow);
      }
      const options = await api.send(path, { method: 'OPTIONS', key: null });
      expect([options.status, options.headers.get('Allow')]).toEqual([204, allow]);
    },
  );

  test('for HEAD as for GET, without a body', async () => {
    for (const path of ['/v1/pets?limit=0', '/v1/nope', '/v1/pets/abc', '/v1/pets']) {
      const [get, head] = [await api.send(path), await api.send(path, { method: 'HEAD' })];
      expect(head.status).toBe(get.status);
      expect(head.headers.get('Content-Type')).toBe(get.headers.get('Content-Type'));
      expect(head.headers.get('Content-Length')).toBe(get.headers.get('Content-Length'));
    }
  });

  test.each(['text/html', 'application/xml', 'text/html, image/*', 'application/json;q=0', 'x'])(
    'when it accepts only %s',
    async (accept) => {
      const headers = { Accept: accept };
      expectCode(await api.send('/v1/pets', { headers }), 406, 'not_acceptable');
      expectCode(await post(rex, headers), 406, 'not_acceptable');
    },
  );

  test.each([
    '*/*',
    'application/*',
    'text/html, */*;q=0.1',
    'application/json; charset=utf-8',
    'application/json;q=0.5, text/html',
    '',
  ])('but not when it accepts "%s"', async (accept) => {
    expect((await api.send('/v1/pets', { headers: { Accept: accept } })).status).toBe(200);
  });
});
