import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Passwords } from '../../src/access/people-ports.ts';
import { AuditLog } from '../../src/access/ports.ts';
import { unsubscribePath } from '../../src/adapters/dashboard/frame/paths.ts';
import { AccessKey } from '../../src/app/keys.ts';
import { Unavailable } from '../../src/kernel/ports.ts';
import { elementsIn, problemsIn } from '../support/dashboard/markup.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import type { DashboardVisitor, PageAnswer } from '../support/dashboard/visitor.ts';
import { rawRequest } from '../support/http/raw-request.ts';

const path = '/dashboard/sign-in';
const password = 'seven quiet tortoises';

let dashboard: RunningDashboard;
let owner: Owner;
let email: string;
let link: string;
beforeAll(async () => {
  dashboard = await startDashboard({ settings: { TRUST_PROXY: '1' } });
  owner = await dashboard.newOwner({ name: 'Zoo & Friends' });
  ({ email } = owner);
  await owner.visitor.post('/dashboard/me/password', { wanted: password });
});
afterAll(() => dashboard.close());
beforeEach(async () => {
  link = await dashboard.linkFor(email);
});
afterEach(() => {
  dashboard.clock.advance(60_000);
});

const statusOf = async (visitor: DashboardVisitor): Promise<number> =>
  (await visitor.get('/dashboard')).status;

const isSignedIn = async (visitor: DashboardVisitor): Promise<boolean> =>
  (await statusOf(visitor)) === 200;

const whoIs = async (visitor: DashboardVisitor): Promise<string> =>
  (await visitor.get('/dashboard/me')).text;

const attempt = (visitor: DashboardVisitor, fields: Readonly<Record<string, string>>) =>
  visitor.post(path, { email, password: 'something else', ...fields });

const expectsWait = ({ headers, text }: PageAnswer): void => {
  const seconds = headers.get('Retry-After') ?? '';
  expect(Number(seconds)).toBeGreaterThanOrEqual(1);
  expect(Number(seconds)).toBeLessThanOrEqual(60);
  expect(messageIn(text)).toContain(`Try again in ${seconds} second`);
};

const messageIn = (text: string): string => problemsIn(text)['form'] ?? '';

const secretOf = (one: string): string => one.replace(/.*\//, '');

describe('a one-time link', () => {
  test('is not used up by a HEAD request, such as one for a link preview', async () => {
    const looked = await dashboard.stranger().send(link, { method: 'HEAD' });
    expect([looked.status, looked.headers.getSetCookie()]).toEqual([200, []]);
    expect((await dashboard.stranger().get(link)).status).toBe(303);
  });

  test('is not opened by a form on another site', async () => {
    const visitor = dashboard.stranger();
    const { status } = await visitor.post(link, {}, { 'Sec-Fetch-Site': 'cross-site' });
    expect(status).toBe(403);
    expect((await visitor.get(link)).status).toBe(303);
  });

  test('signs in even if another program on this host has set a cookie of the same name as ours', async () => {
    const visitor = dashboard.stranger();
    visitor.cookie = 'next=100%';
    expect(await visitor.get(link)).toMatchObject({ status: 303, location: '/dashboard' });
  });

  test('looks the same to other sites as a link that does not exist, and reveals no account', async () => {
    const { status, text } = await dashboard
      .stranger()
      .get('/dashboard/sign-in/made-up', { 'Sec-Fetch-Site': 'cross-site' });
    expect(status).toBe(422);
    expect(messageIn(text)).toMatch(/used already or has expired/);
  });

  test.each([
    {},
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'same-origin' },
    { Referer: 'OURS' },
  ])('signs in at once when it comes with %j', async (headers) => {
    const visitor = dashboard.stranger();
    const told = JSON.parse(
      JSON.stringify(headers).replace('OURS', `${dashboard.origin}/x`),
    ) as Record<string, string>;
    expect(await visitor.get(link, told)).toMatchObject({ status: 303, location: '/dashboard' });
    expect(await isSignedIn(visitor)).toBe(true);
  });

  test.each([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none', 'Sec-Purpose': 'prefetch;prerender' },
    { Purpose: 'prefetch' },
    { Referer: 'https://evil.test/' },
    { Referer: 'about:client' },
  ])('asks for one button press, and is not used up, when it comes with %j', async (headers) => {
    const visitor = dashboard.stranger();
    for (let look = 0; look < 3; look++) {
      const { status, text, headers: told } = await visitor.get(link, headers);
      expect([status, told.getSetCookie(), told.get('Cache-Control')]).toEqual([
        200,
        [],
        'no-store',
      ]);
      expect(elementsIn(text, 'button').map((one) => one.text)).toEqual(['Sign in']);
      expect(text).toContain('Zoo &amp; Friends');
      expect(text).toContain(email);
    }
    expect(await isSignedIn(visitor)).toBe(false);
    const signedIn = await visitor.post(`${link}?next=/dashboard/usage`);
    expect(signedIn).toMatchObject({ status: 303, location: '/dashboard/usage' });
    expect(await isSignedIn(visitor)).toBe(true);
    expect((await dashboard.stranger().post(link)).status).toBe(422);
  });
});

describe('the link of another person, opened while signed in', () => {
  let victim: Owner;
  beforeEach(async () => {
    victim = await dashboard.newOwner({ name: 'Victim' });
  });

  test.each(['cross-site', 'same-origin', 'none'])(
    'does not end the session on its own, and says who is signed in (%s)',
    async (site) => {
      const { status, text } = await victim.visitor.get(link, { 'Sec-Fetch-Site': site });
      expect(status).toBe(200);
      for (const name of [victim.email, 'Victim', email]) expect(text).toContain(name);
      expect(await whoIs(victim.visitor)).toContain(`signed in as ${victim.email}`);
      expect((await dashboard.stranger().get(link)).status).toBe(303);
    },
  );

  test('signs in as that person with its button, and ends the previous session', async () => {
    const { cookie } = victim.visitor;
    expect((await victim.visitor.post(link)).status).toBe(303);
    expect(await whoIs(victim.visitor)).toContain(`signed in as ${email}`);
    victim.visitor.cookie = cookie;
    expect(await isSignedIn(victim.visitor)).toBe(false);
  });
});

describe('a link for a colleague', () => {
  test('can be created only by that colleague or the operator once the colleague has signed in, and the audit log names its creator', async () => {
    const { accountId } = owner;
    const visitor = await dashboard.signIn(owner.email);
    const email = 'keeper@zoo.example';
    const invited = await visitor.post('/dashboard/account/people', {
      email,
      role: 'owner',
      once: 'form_0000001',
    });
    expect(invited.status).toBe(201);
    const access = dashboard.container.get(AccessKey);
    const keeper = (await access.listPeople(accountId)).find((one) => one.email === email);
    const renewed = `/dashboard/account/people/${keeper?.id ?? ''}/link`;
    const again = await visitor.post(renewed, { once: 'form_0000002' });
    const [path = ''] = /\/dashboard\/sign-in\/[0-9A-Za-z]{43}/.exec(again.text) ?? [];
    const own = dashboard.stranger();
    expect((await own.get(path)).status).toBe(303);
    expect((await visitor.get('/dashboard/account/people')).text).not.toContain(renewed);

    for (const [to, fields] of [
      [renewed, { once: 'form_0000003' }],
      ['/dashboard/account/people', { email, role: 'owner', once: 'form_0000004' }],
    ] as const) {
      const { status, text } = await visitor.post(to, fields);
      expect(status).toBe(422);
      expect(text).toContain('only they or the operator can create a link for them');
      expect(text).not.toMatch(/sign-in\/[0-9A-Za-z]{43}/);
    }
    expect((await own.post(renewed, { once: 'form_0000005' })).text).toContain(
      'It is not shown again',
    );
    const entries = await dashboard.container.get(AuditLog).list(accountId, 100);
    const made = entries.filter(
      ({ what, details }) => what === 'sign_in_link_made' && details['email'] === email,
    );
    expect(made.map(({ actor }) => actor)).toEqual([
      `person:${email}`,
      `person:${owner.email}`,
      `person:${owner.email}`,
    ]);
  });
});

describe('e-mail and password', () => {
  test('are refused in the same words, whether the person or the password is wrong', async () => {
    const wrong = [
      await attempt(dashboard.stranger(), {}),
      await attempt(dashboard.stranger(), { email: 'nobody@zoo.example' }),
    ];
    expect(wrong.map(({ status }) => status)).toEqual([422, 422]);
    const [first, second] = wrong.map(({ text }) => messageIn(text));
    expect(first).toMatch(/^Wrong email address or password/);
    expect(second).toBe(first);
    expect(wrong.flatMap(({ headers }) => headers.getSetCookie())).toEqual([]);
  });

  test('keep the address in its field, and not the password, when they are refused', async () => {
    const { text } = await attempt(dashboard.stranger(), { email: 'o"\'<b>@zoo.example' });
    expect(text).toContain('value="o&quot;&#39;&lt;b&gt;@zoo.example"');
    expect(text).not.toContain('something else');
  });

  test.each([
    [{ email: '' }, 'email'],
    [{ email: `${'x'.repeat(300)}@zoo.example` }, 'email'],
    [{ password: '' }, 'password'],
    [{ password: 'x'.repeat(1001) }, 'password'],
  ])('show each mistake beside its field', async (fields, field) => {
    const { status, text } = await attempt(dashboard.stranger(), fields);
    expect(status).toBe(422);
    expect(problemsIn(text)).toEqual({ [field]: expect.stringMatching(/^\S.*\.$/) });
  });

  test('are not checked while too many sign-ins wait, and the page says so', async () => {
    const passwords = dashboard.container.get(Passwords);
    const matching = passwords.matching.bind(passwords);
    passwords.matching = () =>
      Promise.reject(new Unavailable('Password hashing', undefined, 'is too much'));
    const answer = await attempt(dashboard.stranger(), { password });
    passwords.matching = matching;
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '1']);
    expect(answer.text).toContain('Try again in a second.');
    expect(answer.text).not.toContain('storage');
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await attempt(dashboard.stranger(), { password })).status).toBe(303);
  });

  test('can be tried five times a minute from one network, and a link or another network still signs in', async () => {
    const statuses = [];
    for (let i = 0; i < 5; i++) statuses.push((await attempt(dashboard.stranger(), {})).status);
    expect(statuses).toEqual(Array.from({ length: 5 }, () => 422));
    const sixth = await attempt(dashboard.stranger(), { password });
    expect(sixth.status).toBe(429);
    expect(messageIn(sixth.text)).toMatch(
      /^Too many attempts with a password\. Try again in \d+ seconds?, or use a sign-in link/,
    );
    expectsWait(sixth);
    expect(sixth.headers.getSetCookie()).toEqual([]);
    expect((await dashboard.stranger().get(await dashboard.linkFor(email))).status).toBe(303);
    const elsewhere = { 'X-Forwarded-For': '198.51.100.1' };
    const { status } = await dashboard.stranger().post(path, { email, password }, elsewhere);
    expect(status).toBe(303);
    dashboard.clock.advance(60_000);
    expect((await attempt(dashboard.stranger(), { password })).status).toBe(303);
  });

  test.each([
    ['/dashboard/usage', '/dashboard/usage'],
    ['/dashboard/projects/birds/settings/domains', '/dashboard/projects/birds/settings/domains'],
    ['/dashboard/usage?range=30d', '/dashboard/usage?range=30d'],
    ['/dashboard?done=x#y', '/dashboard'],
    [
      '/dashboard/account?who=person%3Aa%40b.example',
      '/dashboard/account?who=person%3Aa%40b.example',
    ],
    ['/dashboard/..//evil.test', '/dashboard/..//evil.test'],
    ['/dashboard?//evil.test', '/dashboard?//evil.test'],
    ['/dashboard?a=\r\nSet-Cookie: a=b', '/dashboard'],
    ['/dashboard?a=\\evil.test', '/dashboard'],
    ['/elsewhere', '/dashboard'],
    ['/dashboardx', '/dashboard'],
    ['//evil.test', '/dashboard'],
    ['/\\evil.test', '/dashboard'],
    ['/dashboard\\@evil.test', '/dashboard'],
    ['https://evil.test/dashboard', '/dashboard'],
    ['/dashboard@evil.test', '/dashboard'],
    ['/dashboard/\r\nSet-Cookie: a=b', '/dashboard'],
    ['javascript:alert(1)', '/dashboard'],
  ])('with the return address %j lead to %j', async (next, there) => {
    const query = new URLSearchParams({ next }).toString();
    const answer = await dashboard.stranger().post(`${path}?${query}`, { email, password });
    expect(answer).toMatchObject({ status: 303, location: there });
    expect(new URL(there, dashboard.origin).origin).toBe(dashboard.origin);
  });
});

describe('a signed-in person', () => {
  test.each(['', '?next=/dashboard/usage%3Frange%3D30d'])(
    'is redirected from the sign-in page%s and from their used link, without a form',
    async (query) => {
      const visitor = dashboard.stranger();
      await visitor.get(link);
      const { cookie } = visitor;
      const there = query === '' ? '/dashboard' : '/dashboard/usage?range=30d';
      for (const place of [path, link]) {
        const answer = await visitor.get(`${place}${query}`);
        expect(answer).toMatchObject({ status: 303, location: there });
      }
      expect(visitor.cookie).toBe(cookie);
    },
  );
});

describe.each([
  ['in capitals', (secret: string) => `/DASHBOARD/SIGN-IN/${secret}`],
  ['with capitals', (secret: string) => `/dashboard/Sign-In/${secret}`],
  ['with its first part in another case', (secret: string) => `/Dashboard/sign-in/${secret}`],
  ['with an escaped letter', (secret: string) => `/%64ashboard/sign-in/${secret}`],
  ['with another escaped letter', (secret: string) => `/dashboard/%73ign-in/${secret}`],
  ['as a whole address', (secret: string) => `http://zoo.example/Dashboard/sign-in/${secret}`],
])('a sign-in link that is written %s', (_, written) => {
  test('does not sign in, and its secret is not in the log', async () => {
    const secret = secretOf(link);
    const answer = await rawRequest(dashboard.origin, [
      `GET ${written(secret)} HTTP/1.1`,
      'Host: zoo.example',
      'Connection: close',
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).not.toMatch(/set-cookie/i);
    expect(dashboard.log.filter((line) => line.includes(secret))).toEqual([]);
    const right = await dashboard.stranger().get(`/dashboard/sign-in/${secret}`);
    expect(right.status).toBe(303);
  });
});

test('the log shows no secret of a link that was used, sent as a referrer or requested again', async () => {
  const secret = secretOf(link);
  const before = dashboard.log.length;
  const visitor = dashboard.stranger();
  await visitor.get(`/dashboard/sign-in/${secret}`);
  await visitor.get('/dashboard', { Referer: `${dashboard.origin}/dashboard/sign-in/${secret}` });
  await visitor.send(`/dashboard/sign-in/${secret}`, { method: 'HEAD' });
  await visitor.get(`/v1/dashboard/sign-in/${secret}`);
  await visitor.get(`/dashboard//sign-in/${secret}`);
  await visitor.get(`${link}/more`);
  await visitor.get(`/dashboard?next=${link}`);
  const lines = dashboard.log.slice(before);
  expect(lines.length).toBeGreaterThanOrEqual(7);
  expect(lines.filter((line) => line.includes(secret))).toEqual([]);
});

test('the paths of other pages are case-sensitive too', async () => {
  for (const path of ['/dashboard/Keys', '/DASHBOARD', '/dashboard/KEYS'])
    expect((await owner.visitor.get(path)).status).toBe(404);
  expect((await owner.visitor.get('/dashboard/keys')).status).toBe(200);
});

/** Signs in with a form, so that the cookie is the one that browsers get. */
const throughLink = async (which = dashboard, whose = email) => {
  const visitor = which.stranger();
  const { headers } = await visitor.get(await which.linkFor(whose));
  const line = headers.getSetCookie().find((one) => one.includes('session=')) ?? '';
  return { visitor, line };
};

describe('a session cookie', () => {
  test('is hidden from scripts and from forms on other sites, and lasts 12 hours', async () => {
    const { line } = await throughLink();
    expect(line).toMatch(
      /^session=[0-9A-Za-z]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });

  test('is bound to the host, and to HTTPS where the dashboard uses HTTPS', async () => {
    const secure = await startDashboard({ settings: { PUBLIC_URL: 'https://zoo.example/v1' } });
    const other = await secure.newOwner();
    const { visitor, line } = await throughLink(secure, other.email);
    expect(line).toMatch(
      /^__Host-session=[0-9A-Za-z]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(await statusOf(visitor)).toBe(200);
    visitor.cookie = visitor.cookie?.replace('__Host-', '');
    expect(await statusOf(visitor)).toBe(303);
    await secure.close();
  });

  test('is new after each sign-in, whatever cookie the browser sent', async () => {
    const { visitor } = await throughLink();
    const { cookie: before } = visitor;
    await visitor.post(await dashboard.linkFor(email));
    expect(visitor.cookie).not.toBe(before);
    const planted = `session=${'x'.repeat(43)}`;
    visitor.cookie = planted;
    await visitor.get(await dashboard.linkFor(email));
    expect(visitor.cookie).not.toBe(planted);
    visitor.cookie = planted;
    expect(await statusOf(visitor)).toBe(303);
  });

  test.each(['', 'x', 'x'.repeat(43), '%00', "' OR 1=1 --", 'ü'])(
    'that was never issued (%j) is ignored',
    async (secret) => {
      const visitor = dashboard.stranger();
      visitor.cookie = `session=${encodeURI(secret)}`;
      expect(await statusOf(visitor)).toBe(303);
    },
  );
});

describe('a session', () => {
  test('ends at sign-out, even for a copied cookie', async () => {
    const { visitor: elsewhere } = await throughLink();
    const { visitor } = await throughLink();
    const { cookie: kept } = visitor;
    const answer = await visitor.post('/dashboard/sign-out');
    expect(answer).toMatchObject({ status: 303, location: path });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^session=; Max-Age=0;/)]);
    visitor.cookie = kept;
    expect(await statusOf(visitor)).toBe(303);
    expect(await statusOf(elsewhere)).toBe(200);
  });
});

describe('the redirect to the sign-in page', () => {
  test('returns to the requested page after the sign-in', async () => {
    const asked = await dashboard.stranger().get('/dashboard/projects/birds/settings/domains');
    const where = `${path}?next=/dashboard/projects/birds/settings/domains`;
    expect(asked).toMatchObject({ status: 303, location: where });
    expect((await dashboard.stranger().get(where)).text).toContain(`action="${where}"`);
  });

  test('returns with the query of that page, such as a range or a filter', async () => {
    const visitor = dashboard.stranger();
    for (const page of ['/dashboard/usage?range=30d', '/dashboard/account?who=key%3Ak&what=keys']) {
      const { location = '' } = await visitor.get(page);
      expect(new URL(location, dashboard.origin).searchParams.get('next')).toBe(page);
    }
    expect((await visitor.get('/dashboard?a="><b>')).location).not.toContain('<');
  });

  test('is the same for every page, and reveals nothing about it', async () => {
    const pages = dashboard.routes.filter(({ method }) => method === 'GET');
    const open = ['/', unsubscribePath, '/dashboard/shared-domain/:secret'];
    const behind = pages.filter((one) => !open.includes(one.path) && !one.path.startsWith(path));
    for (const page of behind) {
      const asked = await dashboard.stranger().get(page.path.replaceAll(/:\w+/g, 'some-1'));
      expect([page.path, asked.status, asked.text]).toEqual([page.path, 303, '']);
      expect(asked.location).toMatch(/^\/dashboard\/sign-in(\?next=\/dashboard\/|$)/);
    }
  });
});
