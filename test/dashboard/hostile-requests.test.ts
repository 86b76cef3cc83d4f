import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textFrom } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { dashboardLimits, type DashboardUse } from '../../src/access/domain/session.ts';
import { AccessKey, SitesKey } from '../../src/app/keys.ts';
import { elementsIn, problemsIn, textOf } from '../support/dashboard/markup.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';
import type { PageAnswer } from '../support/dashboard/visitor.ts';
import { exchangeBytes } from '../support/http/raw-request.ts';

let dashboard: RunningDashboard;
let owner: Owner;
beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner();
});
afterAll(() => dashboard.close());

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

const assetsOf = async (): Promise<readonly string[]> => {
  const { text } = await owner.visitor.get('/dashboard');
  const links = elementsIn(text.replaceAll(/<(link|script)([^>]*)>/g, '<a$2></a>'), 'a');
  const named = links.flatMap(({ attributes: { href, src } }) => href ?? src ?? []);
  return named.filter((path) => path.startsWith('/dashboard/assets/'));
};

const answers: Readonly<Record<string, () => Promise<PageAnswer>>> = {
  'a page': () => owner.visitor.get('/dashboard'),
  'the sign-in page': () => dashboard.stranger().get('/dashboard/sign-in'),
  'the redirect to the sign-in page': () => dashboard.stranger().get('/dashboard'),
  'a successful form': () => owner.visitor.post('/dashboard/sign-out', {}),
  'an invalid form': () => dashboard.stranger().post('/dashboard/sign-in', { email: '' }),
  'a form from another site': () =>
    owner.visitor.post('/dashboard', {}, { 'Sec-Fetch-Site': 'none!' }),
  'a missing page': () => owner.visitor.get('/dashboard/nowhere'),
  'a refused method': () =>
    owner.visitor.send('/dashboard', {
      method: 'PUT',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    }),
  'an asset': async () => owner.visitor.get((await assetsOf())[0] ?? ''),
};

describe.each(Object.entries(answers))('%s', (_, ask) => {
  test('allows nothing from other origins, and is not cached', async () => {
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
    // Only files with a hash of their content in the name are cached.
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

  test('is answered to HEAD with the headers of GET and no content', async () => {
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
      requestId: id,
      method: 'GET',
      path: '/dashboard',
      status: 200,
    });
  });
});

const browser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test.each(['/', '/?utm_source=letter'])(
  'a browser that asks for %s gets the dashboard',
  async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await dashboard.stranger().send(path, { method, headers: browser });
      expect(answer).toMatchObject({ status: 303, location: '/dashboard' });
    }
  },
);

test.each([{ Accept: '*/*' }, { Accept: 'application/json' }])(
  'a client that accepts %j gets a 404 from the API',
  async (headers) => {
    const { status, text } = await dashboard.stranger().get('/', headers);
    expect([status, JSON.parse(text)]).toMatchObject([404, { code: 'route_not_found' }]);
  },
);

test('only requests for pages are redirected to the dashboard', async () => {
  const elsewhere = await dashboard.stranger().get('/elsewhere', browser);
  const sent = await dashboard.stranger().post('/', {}, browser);
  expect([elsewhere.status, sent.status]).toEqual([404, 404]);
});

test('a process without the dashboard redirects no request', async () => {
  const api = await startDashboard({ settings: { ROLES: 'api' } });
  expect((await api.stranger().get('/', browser)).status).toBe(404);
  await api.close();
});

const ours = { 'Sec-Fetch-Site': 'same-origin' };
const form = { ...ours, 'Content-Type': 'application/x-www-form-urlencoded' };

const projects = async () =>
  (await dashboard.container.get(SitesKey).listProjects(owner.accountId)).length;

test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('the method %s is refused', async (method) => {
  for (const path of ['/dashboard', '/dashboard/sign-in', '/dashboard/nowhere']) {
    const answer = await owner.visitor.send(path, { method, headers: ours });
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect(textOf(answer.text)).toContain(`Pages do not accept ${method}.`);
    expect((await owner.visitor.send(path, { method })).status).toBe(405);
  }
});

test.each(['/dashboard/%', '/dashboard/projects/%ff', '/dashboard/projects/%E0%A4%A'])(
  'a path that is not valid text (%s) is 404',
  async (path) => {
    expect((await owner.visitor.get(path)).status).toBe(404);
  },
);

test.each([
  [{ 'Content-Type': 'application/json' }, '{"name":"Birds"}'],
  [{ 'Content-Type': 'text/plain' }, 'name=Birds'],
  [{ 'Content-Type': 'multipart/form-data; boundary=x' }, '--x--'],
  [{ 'Content-Type': '' }, 'name=Birds'],
  [{ ...form, 'Content-Encoding': 'gzip' }, 'name=Birds'],
])('a form that comes as %j is refused', async (told, body) => {
  const headers = { ...ours, ...told };
  const answer = await owner.visitor.send('/dashboard', { method: 'POST', headers, body });
  expect(answer.status).toBe(415);
  expect(await projects()).toBe(0);
});

test('a form of more than 64 KiB is refused, with and without Content-Length', async () => {
  const body = `name=${'x'.repeat(64 * 1024)}`;
  const told = await owner.visitor.send('/dashboard', { method: 'POST', headers: form, body });
  expect(told.status).toBe(413);
  expect(textOf(told.text)).toContain('It can hold 64 KiB');
  const chunks = new Blob([body]).stream();
  const untold = await fetch(`${dashboard.origin}/dashboard`, {
    method: 'POST',
    body: chunks,
    duplex: 'half',
    headers: { ...form, Cookie: owner.visitor.cookie! },
  });
  expect(untold.status).toBe(413);
});

test.each([
  ['is sent at once, and the next request is served', {}, ['413', '200']],
  ['waits to be asked for, and is not asked for', { Expect: '100-continue' }, ['413']],
] as const)(
  'a form of more than 64 KiB is refused if its body %s',
  async (_, expecting, statuses) => {
    const body = `name=${'x'.repeat(64 * 1024)}`;
    const own = { Host: 'x', Cookie: owner.visitor.cookie!, 'Sec-Fetch-Site': 'same-origin' };
    const headOf = (first: string, headers: Readonly<Record<string, string>>): string =>
      [first, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '\r\n'].join(
        '\r\n',
      );
    const told = { ...own, ...form, 'Content-Length': String(body.length), ...expecting };
    const sent = headOf('POST /dashboard HTTP/1.1', told) + body;
    const next = headOf('GET /dashboard HTTP/1.1', { ...own, Connection: 'close' });
    const answers = await exchangeBytes(dashboard.origin, sent + next);
    expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, one]) => one)).toEqual(statuses);
  },
);

test.each(['name=%', 'name=%ff%fe', 'name', '&&&', '=', '__proto__=x&constructor=y', 'name[]=x'])(
  'a form with the body %j is refused',
  async (body) => {
    const answer = await owner.visitor.send('/dashboard', { method: 'POST', headers: form, body });
    expect([400, 422]).toContain(answer.status);
    expect(await projects()).toBe(0);
  },
);

test('a form that is cut off does nothing, and the next one is served', async () => {
  const { hostname, port } = new URL(dashboard.origin);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ ...form, Cookie: owner.visitor.cookie!, 'Content-Length': '99' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST /dashboard HTTP/1.1\r\nHost: x\r\n${head}\r\nname=Bir`);
  await once(socket, 'connect');
  socket.end();
  expect(await textFrom(socket)).not.toMatch(/^HTTP\/1\.1 [23]/);
  expect(await projects()).toBe(0);
  expect((await owner.visitor.get('/dashboard')).status).toBe(200);
});

describe('the page about a failure', () => {
  beforeAll(async () => {
    await dashboard.container.get(SitesKey).startProject(owner.accountId, 'Birds');
  });

  const linksIn = (markup: string) => {
    const [bar = '', main = ''] = markup.split('<main');
    const hrefs = (part: string) =>
      elementsIn(part, 'a').map(({ attributes }) => attributes['href']);
    return { bar: hrefs(bar), main: hrefs(main) };
  };

  test.each([
    ['a missing page', '/dashboard/nowhere', '/dashboard'],
    ['a project that does not exist', '/dashboard/projects/nobodys', '/dashboard'],
    ['a project with a zero byte', '/dashboard/projects/%00', '/dashboard'],
    ['a project with an escaped slash', '/dashboard/projects/..%2f', '/dashboard'],
  ])('keeps the navigation after %s', async (_, path, back) => {
    const { status, text } = await owner.visitor.get(path);
    expect(status).toBe(404);
    expect(elementsIn(text, 'h1')).toMatchObject([{ text: 'Not found' }]);
    expect(linksIn(text)).toMatchObject({
      bar: expect.arrayContaining(['/dashboard/animals', '/dashboard/account']),
      main: [back],
    });
    expect(elementsIn(text, 'button').map((one) => one.text)).toContain('Sign out');
  });

  test.each([
    ['of a missing key', '/dashboard/keys/key_1/revoke', {}, 404, '/dashboard/keys'],
    [
      'without its submission id',
      '/dashboard/keys',
      { name: 'Till', scopes: 'pets:read', expires: '' },
      400,
      '/dashboard/keys',
    ],
    ['of a missing session', '/dashboard/me/sessions/sess_1/end', {}, 404, '/dashboard/account'],
    ['of a missing deploy', '/dashboard/projects/birds/deploys/7/roll-back', {}, 404, '/dashboard'],
  ])('the error page of a form %s links back', async (_, path, fields, expected, back) => {
    const { status, text } = await owner.visitor.post(path, fields);
    expect(status).toBe(expected);
    expect(linksIn(text)).toMatchObject({
      bar: expect.arrayContaining(['/dashboard/usage']),
      main: [back],
    });
  });

  test('owners who try to remove themselves see the reason on the people page', async () => {
    const [person] = await dashboard.container.get(AccessKey).listPeople(owner.accountId);
    const path = `/dashboard/account/people/${person?.id ?? ''}/remove`;
    const { status, text } = await owner.visitor.post(path, { once: 'once_once_once' });
    expect(status).toBe(422);
    expect(problemsIn(text)).toEqual({
      form: expect.stringMatching(/^You cannot remove yourself/),
    });
    expect(elementsIn(text, 'h1').map((one) => one.text)).toContain('People');
  });

  test('visitors without a session see no navigation, and a link to the first page', async () => {
    const { status, text } = await dashboard.stranger().get('/dashboard/nowhere');
    expect(status).toBe(404);
    expect(linksIn(text)).toEqual({ bar: ['#main', '/dashboard'], main: ['/dashboard'] });
  });
});

describe("one person's requests", () => {
  beforeEach(async () => {
    owner = await dashboard.newOwner();
  });

  const useUp = async (use: DashboardUse): Promise<void> => {
    const access = dashboard.container.get(AccessKey);
    const signedIn = await access.findSession(owner.visitor.cookie!.split('=')[1]!);
    for (let n = 0; n < dashboardLimits[use]; n++) await access.admitUse(signedIn!, use);
  };

  test('are limited, and the page for a refused request says when to try again', async () => {
    await useUp('pages');
    const refused = await owner.visitor.get('/dashboard/usage');
    expect(refused.status).toBe(429);
    const seconds = refused.headers.get('Retry-After') ?? '';
    expect(seconds).toMatch(/^\d{1,2}$/);
    expect(refused.text).toContain('<h1>Too many requests</h1>');
    expect(refused.text).toContain(`Try again in ${seconds} second`);
    // Never refused: signing out, and the styles of the error page.
    expect((await owner.visitor.get('/dashboard/assets/none')).status).toBe(404);
    dashboard.clock.advance(60_000);
    expect((await owner.visitor.get('/dashboard/usage')).status).toBe(200);
  });
});
