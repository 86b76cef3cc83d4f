import { unsubscribePath } from '../../src/adapters/dashboard/frame/same-origin.ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AccessKey } from '../../src/app/keys.ts';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

let dashboard: RunningDashboard;
let owner: Owner;
beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner();
});
afterAll(() => dashboard.close());

const signInPath = '/dashboard/sign-in';

/** Through the front door, so that the cookie is the one that browsers get. */
const throughLink = async (which = dashboard, email = owner.email) => {
  const visitor = which.stranger();
  const { headers } = await visitor.get(await which.linkFor(email));
  const line = headers.getSetCookie().find((one) => one.includes('session=')) ?? '';
  return { visitor, line };
};

const statusOf = async (visitor: DashboardVisitor, path = '/dashboard'): Promise<number> =>
  (await visitor.get(path)).status;

describe('a session cookie', () => {
  test('is hidden from scripts and from forms on other sites, and lasts 12 hours', async () => {
    const { line } = await throughLink();
    expect(line).toMatch(
      /^session=[0-9A-Za-z]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });

  test('is bound to the host and to HTTPS where the dashboard is reached over HTTPS', async () => {
    const secure = await startDashboard({ settings: { PUBLIC_URL: 'https://zoo.example/v1' } });
    const { email } = await secure.newOwner();
    const { visitor, line } = await throughLink(secure, email);
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
    await visitor.post(await dashboard.linkFor(owner.email));
    expect(visitor.cookie).not.toBe(before);
    const planted = `session=${'x'.repeat(43)}`;
    visitor.cookie = planted;
    await visitor.get(await dashboard.linkFor(owner.email));
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
  test('ends for good at sign-out, even for a kept cookie', async () => {
    const { visitor } = await throughLink();
    const { cookie: kept } = visitor;
    const answer = await visitor.post('/dashboard/sign-out');
    expect(answer).toMatchObject({ status: 303, location: signInPath });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^session=; Max-Age=0;/)]);
    visitor.cookie = kept;
    expect(await statusOf(visitor)).toBe(303);
    expect(await statusOf(owner.visitor)).toBe(200);
  });

  test('ends after 12 hours', async () => {
    const { visitor } = await throughLink();
    dashboard.clock.advance(12 * 3_600_000 - 1);
    expect(await statusOf(visitor)).toBe(200);
    dashboard.clock.advance(1);
    expect(await statusOf(visitor)).toBe(303);
    owner = { ...owner, visitor: await dashboard.signIn(owner.email) };
  });

  test('that is revoked elsewhere is refused at the next request', async () => {
    const { visitor } = await throughLink();
    const access = dashboard.container.get(AccessKey);
    const signedIn = await access.findSession(visitor.cookie!.split('=')[1]!);
    expect(await statusOf(visitor)).toBe(200);
    await access.revokeSession(signedIn!, signedIn!.session.id);
    expect(await statusOf(visitor)).toBe(303);
  });
});

describe('the redirect to the sign-in page', () => {
  test('returns to the requested page after the sign-in', async () => {
    const asked = await dashboard.stranger().get('/dashboard/projects/birds/settings/domains');
    const where = `${signInPath}?next=/dashboard/projects/birds/settings/domains`;
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
    // From a mail or an owner, also for those who are not signed in.
    const open = ['/', unsubscribePath, '/dashboard/shared-domain/:secret'];
    const behind = pages.filter(({ path }) => !open.includes(path) && !path.startsWith(signInPath));
    for (const { path } of behind) {
      const asked = await dashboard.stranger().get(path.replaceAll(/:\w+/g, 'some-1'));
      expect([path, asked.status, asked.text]).toEqual([path, 303, '']);
      expect(asked.location).toMatch(/^\/dashboard\/sign-in(\?next=\/dashboard\/|$)/);
    }
  });
});
