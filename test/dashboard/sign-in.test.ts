import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Passwords } from '../../src/access/people-ports.ts';
import { AccessKey } from '../../src/app/keys.ts';
import { Unavailable } from '../../src/kernel/unavailable.ts';
import { problemsIn } from '../support/dashboard/markup.ts';
import type { DashboardVisitor, PageAnswer } from '../support/dashboard/visitor.ts';
import { startDashboard, type RunningDashboard } from '../support/dashboard/running-dashboard.ts';

const path = '/dashboard/sign-in';
const password = 'seven quiet tortoises';

let dashboard: RunningDashboard;
let email: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  const owner = await dashboard.newOwner();
  ({ email } = owner);
  const access = dashboard.container.get(AccessKey);
  const signedIn = await access.findSession(owner.visitor.cookie!.split('=')[1]!);
  await access.choosePassword(signedIn!, { current: '', wanted: password });
});
afterAll(() => dashboard.close());
// Attempts are counted by the minute.
afterEach(() => {
  dashboard.clock.advance(60_000);
});

const isSignedIn = async (visitor: DashboardVisitor): Promise<boolean> =>
  (await visitor.get('/dashboard')).status === 200;

const attempt = (visitor: DashboardVisitor, fields: Readonly<Record<string, string>>) =>
  visitor.post(path, { email, password: 'something else', ...fields });

/** The header says the same as the sentence. */
const expectsWait = ({ headers, text }: PageAnswer): void => {
  const seconds = headers.get('Retry-After') ?? '';
  expect(Number(seconds)).toBeGreaterThanOrEqual(1);
  expect(Number(seconds)).toBeLessThanOrEqual(60);
  expect(messageIn(text)).toContain(`Try again in ${seconds} second`);
};

const messageIn = (text: string): string => problemsIn(text)['form'] ?? '';

describe('a one-time link', () => {
  test('signs in at once, and only once', async () => {
    const link = await dashboard.linkFor(email);
    const first = dashboard.stranger();
    expect(await first.get(link)).toMatchObject({ status: 303, location: '/dashboard' });
    expect(await isSignedIn(first)).toBe(true);

    const second = dashboard.stranger();
    const refused = await second.get(link);
    expect(refused.status).toBe(422);
    expect(messageIn(refused.text)).toMatch(/used already or has expired/);
    expect(refused.headers.getSetCookie()).toEqual([]);
  });

  test('is not used up by a HEAD request, such as of a link preview', async () => {
    const link = await dashboard.linkFor(email);
    const looked = await dashboard.stranger().send(link, { method: 'HEAD' });
    expect([looked.status, looked.headers.getSetCookie()]).toEqual([200, []]);
    expect((await dashboard.stranger().get(link)).status).toBe(303);
  });

  test('signs in only one of many who open it at once', async () => {
    const link = await dashboard.linkFor(email);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => dashboard.stranger().get(link)),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(9);
  });

  test('expires after 15 minutes', async () => {
    const link = await dashboard.linkFor(email);
    dashboard.clock.advance(15 * 60_000);
    expect((await dashboard.stranger().get(link)).status).toBe(422);
  });

  test('never appears in the log', async () => {
    const link = await dashboard.linkFor(email);
    const secret = link.split('/').at(-1)!;
    await dashboard.stranger().get(link);
    await dashboard.stranger().get(`/dashboard//sign-in/${secret}`);
    await dashboard.stranger().get(`${link}/more`);
    await dashboard.stranger().get(`/dashboard?next=${link}`);
    expect(dashboard.log.length).toBeGreaterThanOrEqual(4);
    expect(dashboard.log.filter((line) => line.includes(secret))).toEqual([]);
  });
});

describe('e-mail and password', () => {
  test('sign in, whatever the case of the address', async () => {
    const visitor = dashboard.stranger();
    const answer = await attempt(visitor, { email: ` ${email.toUpperCase()} `, password });
    expect(answer).toMatchObject({ status: 303, location: '/dashboard' });
    expect(await isSignedIn(visitor)).toBe(true);
  });

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

  test('that are refused leave the address in its field, and the password in none', async () => {
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

  test('are not checked while too many others wait, and the page says so', async () => {
    const passwords = dashboard.container.get(Passwords);
    const matching = passwords.matching.bind(passwords);
    passwords.matching = () =>
      Promise.reject(new Unavailable('The work on passwords', undefined, 'is too much'));
    const answer = await attempt(dashboard.stranger(), { password });
    passwords.matching = matching;
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '1']);
    expect(answer.text).toContain('Try again in a second.');
    expect(answer.text).not.toContain('storage');
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await attempt(dashboard.stranger(), { password })).status).toBe(303);
  });

  test('of one person can be tried five times a minute, and a link still signs in', async () => {
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
    // Using up the tries of a password does not lock its owner out.
    expect((await dashboard.stranger().get(await dashboard.linkFor(email))).status).toBe(303);
    dashboard.clock.advance(60_000);
    expect((await attempt(dashboard.stranger(), { password })).status).toBe(303);
  });

  test('and links can be tried twenty times a minute from one network, for all people together', async () => {
    for (let i = 0; i < 18; i++) {
      expect((await dashboard.stranger().get(`${path}/made-up-${i}`)).status).toBe(422);
    }
    for (const name of ['one', 'two']) {
      const fields = { email: `${name}@zoo.example` };
      expect((await attempt(dashboard.stranger(), fields)).status).toBe(422);
    }
    const link = await dashboard.linkFor(email);
    const refused = [
      await attempt(dashboard.stranger(), { password }),
      await dashboard.stranger().get(link),
    ];
    expect(refused.map(({ status }) => status)).toEqual([429, 429]);
    for (const answer of refused) {
      // A link would be refused too: nobody is sent to one.
      expect(messageIn(answer.text)).toMatch(
        /^Too many attempts to sign in from your network\. Try again in \d+ seconds?\.$/,
      );
      expectsWait(answer);
    }
    dashboard.clock.advance(60_000);
    expect((await dashboard.stranger().get(link)).status).toBe(303);
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
    'is redirected from the sign-in page%s, and from their used link, without a form',
    async (query) => {
      const link = await dashboard.linkFor(email);
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

  test('becomes another person with that person’s link, after a confirmation', async () => {
    const other = await dashboard.newOwner({ name: 'Birds' });
    const visitor = dashboard.stranger();
    await visitor.get(await dashboard.linkFor(email));
    const link = await dashboard.linkFor(other.email);
    expect((await visitor.get(link)).status).toBe(200);
    expect((await visitor.get('/dashboard/account')).text).not.toContain(other.email);
    expect(await visitor.post(link)).toMatchObject({ status: 303, location: '/dashboard' });
    expect((await visitor.get('/dashboard/account')).text).toContain(other.email);
  });
});
