import { type Chance, asBytes, hostilePath, hostileText } from './hostile-text.ts';
import type { BytesCase } from './fuzz-case.ts';
import { http1Case, type Http1Request } from './http1-cases.ts';

const place = { target: 'API', port: 'service' } as const;

export const apiCase = (chance: Chance): BytesCase =>
  http1Case(place, chance, () => apiRequest(chance));

const paths = [
  '/v1/pets',
  '/v1/pets',
  '/v1/pets/1',
  '/v1/pets/9223372036854775807',
  '/v1/pets/9223372036854775808',
  '/v1/pets/0',
  '/v1/store/orders',
  '/v1/openapi.json',
  '/v1',
  '/v1/',
  '/docs',
  '/healthz',
  '/readyz',
  '/',
];

const apiRequest = (chance: Chance): Http1Request => {
  const path =
    (chance.oneIn(4) ? hostilePath(chance, '/v1/pets') : chance.pick(paths)) + query(chance);
  const method = chance.oneIn(3) ? 'POST' : chance.pick(methods);
  const headers = [...usualHeaders(chance), ...oddHeaders(chance)];
  if (method !== 'POST' && !chance.oneIn(10)) return { method, path, headers };
  const key = chance.oneIn(3) ? [['Idempotency-Key', idempotencyKey(chance)] as const] : [];
  const type = [contentType, chance.pick(contentTypes)] as const;
  return { method, path, headers: [...headers, ...key, type], body: asBytes(jsonBody(chance)) };
};

const methods = ['GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'];
const contentType = 'Content-Type';
const contentTypes = [
  ...Array<string>(6).fill('application/json'),
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/json;'.repeat(200),
];

const usualHeaders = (chance: Chance): Http1Request['headers'] => [
  ['Host', chance.oneIn(9) ? 'other.test' : '127.0.0.1'],
  ...(chance.oneIn(6) ? wrongKey(chance) : [['Authorization', 'Bearer {{key}}'] as const]),
  // Each request comes from its own network, so that no limit of requests without a key affects later ones.
  ['X-Forwarded-For', chance.times(4, () => String(chance.below(256))).join('.')],
];

const wrongKey = (chance: Chance): Http1Request['headers'] =>
  chance.pick<Http1Request['headers']>([
    [],
    [['Authorization', 'Bearer']],
    [['Authorization', `Bearer pets_live_${chance.hex(38)}`]],
    [['Authorization', `Basic ${chance.hex(20)}`]],
    [['Authorization', `Bearer ${'x'.repeat(chance.size(5000))}`]],
    [['Authorization', 'Bearer {{key}}x']],
  ]);

const odd: Readonly<Record<string, readonly string[]>> = {
  Accept: ['*/*', 'application/json', 'text/html', 'application/json;q=0', 'a/b;'.repeat(300), ''],
  Origin: ['https://evil.test', 'null', 'x', 'http://['],
  'Content-Encoding': ['gzip', 'identity', 'br, gzip'],
  'Accept-Encoding': ['gzip;q=x', '*;q=0', 'identity;q=0,'.repeat(200)],
  'If-None-Match': ['*', '"x"', 'W/"'],
  Range: ['bytes=0-', 'bytes=-1', `bytes=${'0-0,'.repeat(1000)}`],
  'X-Request-Id': ['x', '{{7*7}}'],
  'X-Forwarded-For': ['x', '::1, 10.0.0.1', ',,,', '1.1.1.1'.repeat(200)],
  'X-HTTP-Method-Override': ['DELETE'],
  'Access-Control-Request-Method': ['POST', 'x'],
};

const oddHeaders = (chance: Chance): Http1Request['headers'] =>
  chance.times(chance.oneIn(3) ? chance.between(1, 3) : 0, () => {
    const name = chance.pick(Object.keys(odd));
    return [name, chance.pick(odd[name] ?? [''])] as const;
  });

const idempotencyKey = (chance: Chance): string =>
  chance.oneIn(3) ? 'x'.repeat(chance.size(400)) : `again-${String(chance.below(20))}`;

const query = (chance: Chance): string => {
  if (chance.oneIn(2)) return '';
  const fields = chance.times(chance.between(1, 3), () => {
    const name = chance.pick(['limit', 'cursor', 'status', 'limit', '__proto__', '']);
    return `${name}=${chance.pick([
      () => String(chance.between(-1, 101)),
      () => chance.pick(['available', 'pending', 'sold', 'x']),
      () => '{{cursor}}',
      () => `{{cursor}}${chance.pick(['x', '%00', '='])}`,
      () => `${chance.hex(16)}.${chance.hex(22)}`,
      () => encodeURIComponent(hostileText(chance, 500)),
    ])()}`;
  });
  return `?${fields.join(chance.pick(['&', '&', '&&', ';']))}`;
};

const integers = [
  ...['1', '0', '-1', '-0', '1.0', '1.5', '1e3', '1E400', '00001', '0x10', '"1"', 'null', 'true'],
  ...['9007199254740993', '9223372036854775807', '9223372036854775808', '-9223372036854775809'],
  ...['12345678901234567890123456789', '[1]', '{"a":1}', '1'.repeat(5000)],
];

const jsonBody = (chance: Chance): string => {
  switch (chance.below(8)) {
    case 0:
      return hostileText(chance);
    case 1:
      return chance.pick(['[', '{"a":', '"', '[[],']).repeat(chance.size(20_000));
    case 2:
      return `{"name":"${'x'.repeat(chance.between(60_000, 70_000))}","categoryId":1}`;
    case 3:
      return `{"name":"Rex","categoryId":1,"__proto__":{"status":"sold"},"${chance.hex(8)}":1}`;
    default:
      return `{"name":${JSON.stringify(hostileText(chance, 300))},"categoryId":${chance.pick(integers)}${chance.oneIn(3) ? `,"status":${JSON.stringify(chance.pick(['available', 'sold', 'x', '']))}` : ''}}`;
  }
};
