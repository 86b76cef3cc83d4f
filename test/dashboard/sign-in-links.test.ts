import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AuditLog } from '../../src/access/ports.ts';
import { AccessKey } from '../../src/app/keys.ts';
import { elementsIn, problemsIn } from '../support/dashboard/markup.ts';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

let dashboard: RunningDashboard;
let owner: Owner;
let link: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner({ name: 'Zoo & Friends' });
});
afterAll(() => dashboard.close());
beforeEach(async () => {
  link = await dashboard.linkFor(owner.email);
});
// Attempts are counted by the minute.
afterEach(() => {
  dashboard.clock.advance(60_000);
});

const isSignedIn = async (visitor: DashboardVisitor): Promise<boolean> =>
  (await visitor.get('/dashboard')).status === 200;
const whoIs = async (visitor: DashboardVisitor): Promise<string> =>
  (await visitor.get('/dashboard/account')).text;

describe('a one-time link in a browser without a session', () => {
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
  ])('asks with one button, and is not used up, when it comes with %j', async (headers) => {
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
      expect(text).toContain(owner.email);
    }
    expect(await isSignedIn(visitor)).toBe(false);
    const signedIn = await visitor.post(`${link}?next=/dashboard/usage`);
    expect(signedIn).toMatchObject({ status: 303, location: '/dashboard/usage' });
    expect(await isSignedIn(visitor)).toBe(true);
    expect((await dashboard.stranger().post(link)).status).toBe(422);
  });

  test('is not opened by a form on another site', async () => {
    const visitor = dashboard.stranger();
    const { status } = await visitor.post(link, {}, { 'Sec-Fetch-Site': 'cross-site' });
    expect(status).toBe(403);
    expect((await visitor.get(link)).status).toBe(303);
  });

  test('gives other sites the same page when it does not exist, and reveals no account', async () => {
    const { status, text } = await dashboard
      .stranger()
      .get('/dashboard/sign-in/made-up', { 'Sec-Fetch-Site': 'cross-site' });
    expect(status).toBe(422);
    expect(problemsIn(text)['form']).toMatch(/used already or has expired/);
  });
});

describe('the link of another person, opened while signed in', () => {
  let victim: Owner;
  beforeEach(async () => {
    victim = await dashboard.newOwner({ name: 'Victim' });
  });

  test.each(['cross-site', 'same-origin', 'none'])(
    'ends no session by itself, and says who is signed in (%s)',
    async (site) => {
      const { status, text } = await victim.visitor.get(link, { 'Sec-Fetch-Site': site });
      expect(status).toBe(200);
      for (const name of [victim.email, 'Victim', owner.email]) expect(text).toContain(name);
      expect(await whoIs(victim.visitor)).toContain(`signed in as ${victim.email}`);
      expect((await dashboard.stranger().get(link)).status).toBe(303);
    },
  );

  test('signs in as that person by its button, and ends the previous session', async () => {
    const { cookie } = victim.visitor;
    expect((await victim.visitor.post(link)).status).toBe(303);
    expect(await whoIs(victim.visitor)).toContain(`signed in as ${owner.email}`);
    victim.visitor.cookie = cookie;
    expect(await isSignedIn(victim.visitor)).toBe(false);
  });
});

describe('a link for a colleague', () => {
  test('can be made only by them or the operator once they have signed in, and the audit log names its maker', async () => {
    const { visitor, accountId } = owner;
    const email = 'keeper@zoo.example';
    const invited = await visitor.post('/dashboard/account/people', {
      email,
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
    expect((await visitor.get('/dashboard/account')).text).not.toContain(renewed);

    for (const [to, fields] of [
      [renewed, { once: 'form_0000003' }],
      ['/dashboard/account/people', { email, once: 'form_0000004' }],
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

  test('made before the first sign-in stops working after it', async () => {
    const access = dashboard.container.get(AccessKey);
    const email = 'newcomer@zoo.example';
    const [kept, used] = [
      await access.invite(owner.accountId, email),
      await access.invite(owner.accountId, email),
    ];
    await dashboard.stranger().get(`/dashboard/sign-in/${used.secret}`);
    expect((await dashboard.stranger().get(`/dashboard/sign-in/${kept.secret}`)).status).toBe(422);
  });
});
