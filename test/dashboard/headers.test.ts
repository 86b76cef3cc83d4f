import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { elementsIn } from '../support/dashboard/markup.ts';
import type { PageAnswer } from '../support/dashboard/visitor.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

let dashboard: RunningDashboard;
let owner: Owner;
beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner();
});
afterAll(() => dashboard.close());

const assetsOf = async (): Promise<readonly string[]> => {
  const { text } = await owner.visitor.get('/dashboard');
  const links = elementsIn(text.replaceAll(/<(link|script)([^>]*)>/g, '<a$2></a>'), 'a');
  const named = links.flatMap(({ attributes: { href, src } }) => href ?? src ?? []);
  return named.filter((path) => path.startsWith('/dashboard/assets/'));
};

/** One of each kind of answer. */
const answers: Readonly<Record<string, () => Promise<PageAnswer>>> = {
  'a page': () => owner.visitor.get('/dashboard'),
  'the sign-in': () => dashboard.stranger().get('/dashboard/sign-in'),
  'the way to the sign-in': () => dashboard.stranger().get('/dashboard'),
  'a form that worked': () => owner.visitor.post('/dashboard/sign-out', {}),
  'a form with a fault': () => dashboard.stranger().post('/dashboard/sign-in', { email: '' }),
  'a form from elsewhere': () =>
    owner.visitor.post('/dashboard', {}, { 'Sec-Fetch-Site': 'none!' }),
  'a page that is not there': () => owner.visitor.get('/dashboard/nowhere'),
  'a method that is not taken': () =>
    owner.visitor.send('/dashboard', {
      method: 'PUT',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    }),
  'an asset': async () => owner.visitor.get((await assetsOf())[0] ?? ''),
};

describe.each(Object.entries(answers))('%s', (_, ask) => {
  test('allows nothing from other origins', async () => {
    owner = { ...owner, visitor: await dashboard.signIn(owner.email) };
    const { headers } = await ask();
    expect(headers.get('Content-Security-Policy')?.split('; ')).toEqual(policy);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(headers.get('X-Powered-By')).toBeNull();
    expect(headers.get('Strict-Transport-Security')).toBeNull();
  });

  test('is never cached, unless its name contains a hash of its content', async () => {
    owner = { ...owner, visitor: await dashboard.signIn(owner.email) };
    const { headers } = await ask();
    const isAsset = /css|javascript|svg/.test(headers.get('Content-Type') ?? '');
    const kept = isAsset ? 'public, max-age=31536000, immutable' : 'no-store';
    expect(headers.get('Cache-Control')).toBe(kept);
  });
});

test('HSTS is sent only where the dashboard is reached over HTTPS', async () => {
  const secure = await startDashboard({ settings: { PUBLIC_URL: 'https://zoo.example/v1' } });
  for (const path of ['/dashboard', '/dashboard/sign-in', '/dashboard/nowhere']) {
    const { headers } = await secure.stranger().get(path);
    expect(headers.get('Strict-Transport-Security')).toBe('max-age=31536000');
  }
  await secure.close();
});

describe('an asset', () => {
  test('has a hash of its content in its name, and any other hash is 404', async () => {
    const paths = await assetsOf();
    expect(paths).toHaveLength(3);
    for (const path of paths) {
      expect(path).toMatch(/^\/dashboard\/assets\/\w+\.[0-9a-f]{12}\.(css|js|svg)$/);
      expect((await dashboard.stranger().get(path)).status).toBe(200);
      const other = path.replace(/\.[0-9a-f]{12}\./, '.000000000000.');
      expect((await dashboard.stranger().get(other)).status).toBe(404);
    }
  });

  test.each(['br', 'gzip', 'identity'])(
    'has the same content with the encoding %s',
    async (encoding) => {
      for (const path of await assetsOf()) {
        const plain = await owner.visitor.get(path, { 'Accept-Encoding': 'identity' });
        const { headers, text } = await owner.visitor.get(path, { 'Accept-Encoding': encoding });
        expect(headers.get('Content-Encoding')).toBe(encoding === 'identity' ? null : encoding);
        expect(headers.get('Vary')).toBe('Accept-Encoding');
        expect(text).toBe(plain.text);
      }
    },
  );
});

describe('a page', () => {
  test('is compressed for clients that accept it', async () => {
    const plain = await owner.visitor.get('/dashboard', { 'Accept-Encoding': 'identity' });
    const packed = await owner.visitor.get('/dashboard', { 'Accept-Encoding': 'br, gzip' });
    expect([plain, packed].map(({ headers }) => headers.get('Content-Encoding'))).toEqual([
      null,
      'gzip',
    ]);
    expect(packed.headers.get('Vary')).toBe('Accept-Encoding');
    expect(packed.text.length).toBe(plain.text.length);
  });

  test('is answered to HEAD as to GET, without its content', async () => {
    const [asset = ''] = await assetsOf();
    for (const path of ['/dashboard', '/dashboard/sign-in', '/dashboard/nowhere', asset]) {
      const got = await owner.visitor.get(path);
      const head = await owner.visitor.send(path, { method: 'HEAD' });
      expect([path, head.status, head.text]).toEqual([path, got.status, '']);
      const type = head.headers.get('Content-Type');
      expect(type).toBe(got.headers.get('Content-Type'));
    }
  });

  test('has one log line, with the request id of the answer', async () => {
    const { headers } = await owner.visitor.get('/dashboard');
    const id = headers.get('X-Request-Id') ?? '';
    const lines = dashboard.log.filter((line) => line.includes(id));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      ...{ requestId: id, method: 'GET', path: '/dashboard', status: 200 },
    });
  });
});
