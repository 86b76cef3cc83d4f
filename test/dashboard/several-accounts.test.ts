import { beforeEach, describe, expect, test } from '@jest/globals';
import { AccessKey } from '../../src/app/keys.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { elementsIn } from '../support/dashboard/markup.ts';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';

const email = 'mia@shop.example';
const password = 'seven quiet tortoises';

const browsed = browseDashboard(async ({ dashboard }) => {
  const access = dashboard.container.get(AccessKey);
  for (const name of ['Zoo', 'Birds', 'Cats & Dogs']) {
    const { account } = await access.createAccount({ name, email, plan: 'pro' });
    const { secret } = await access.signInLinkFor(email, account.id);
    const from = { network: '192.0.2.200', browser: 'Firefox' };
    const session = await access.signInByLink(secret, from);
    const signedIn = await access.findSession(session.secret);
    const wanted = name === 'Birds' ? 'another password of mine' : password;
    await access.choosePassword(signedIn!, { current: '', wanted });
  }
});
beforeEach(() => {
  browsed.dashboard.clock.advance(60_000);
});

const signIn = async (its = password, query = ''): Promise<DashboardVisitor> => {
  const visitor = browsed.dashboard.stranger();
  const { location } = await visitor.post(`/dashboard/sign-in${query}`, { email, password: its });
  expect(location).toBe(its === password ? `/dashboard/accounts${query}` : '/dashboard');
  return visitor;
};
const barOf = async (visitor: DashboardVisitor): Promise<string> =>
  (await visitor.get('/dashboard')).text.split('</header>')[0] ?? '';
const choices = async (visitor: DashboardVisitor, query = '') => {
  const { text } = await visitor.get(`/dashboard/accounts${query}`);
  return elementsIn(text, 'form')
    .map(({ attributes }) => attributes['action'] ?? '')
    .filter((action) => action.startsWith('/dashboard/accounts/'));
};

describe('one address with several accounts', () => {
  test('can choose after the sign-in among those that the password opens, and gets to the requested page', async () => {
    const query = '?next=/dashboard/usage';
    const visitor = await signIn(password, query);
    const [zoo = '', cats = '', ...more] = await choices(visitor, query);
    expect(more).toEqual([]);
    expect(await barOf(visitor)).toContain('Zoo');
    const { cookie } = visitor;
    expect(await visitor.post(cats)).toMatchObject({ status: 303, location: '/dashboard/usage' });
    expect(await barOf(visitor)).toContain('Cats &amp; Dogs');
    // Back, and to where one is already.
    expect((await visitor.post(zoo)).status).toBe(303);
    expect((await visitor.post(zoo)).status).toBe(303);
    expect(await barOf(visitor)).toContain('Zoo');
    visitor.cookie = cookie;
    expect((await visitor.get('/dashboard')).status).toBe(303);
  });

  test('gets straight into the only account that the password opens', async () => {
    const visitor = await signIn('another password of mine');
    expect(await barOf(visitor)).toContain('Birds');
    expect(await barOf(visitor)).not.toContain('/dashboard/accounts');
    expect(await choices(visitor)).toHaveLength(1);
  });

  test('cannot choose an account by its id that the password did not open', async () => {
    const visitor = await signIn();
    const [mine = ''] = await choices(visitor);
    const [birds = ''] = await choices(await signIn('another password of mine'));
    for (const path of [birds, `${mine}x`]) expect((await visitor.post(path)).status).toBe(404);
    expect(await barOf(visitor)).toContain('Zoo');
  });
});

describe.each([true, false])('in a browser (scripts: %s)', (javaScript) => {
  test('a person chooses an account, and switches to another one later', async () => {
    const page = await browsed.visit('/dashboard/sign-in', { cookie: undefined, javaScript });
    await page.label('Email').fill(email);
    await page.label('Password').fill(password);
    await page.role('button', 'Sign in').click();
    await page.role('heading', 'Choose an account').isShown();
    await page.role('button', 'Open Cats & Dogs').click();
    await page.role('heading', 'Projects').isShown();
    await page.role('link', 'Cats & Dogs').click();
    await page.role('button', 'Open Zoo').click();
    await page.role('heading', 'Projects').isShown();
    expect(await page.role('link', 'Zoo').count()).toBe(1);
  });

  test('a link of another account asks before it signs in', async () => {
    const { dashboard, owner } = browsed;
    const access = dashboard.container.get(AccessKey);
    const [birds] = (await access.listAccounts()).filter(({ name }) => name === 'Birds');
    const { secret } = await access.signInLinkFor(email, birds?.id);
    const { cookie } = await dashboard.signIn(owner.email);
    const page = await browsed.visit(`/dashboard/sign-in/${secret}`, { cookie, javaScript });
    expect(await page.css('main').read()).toContain(owner.email);
    await page.role('button', 'Sign in').click();
    await page.role('heading', 'Projects').isShown();
    expect(await page.css('header').read()).toContain('Birds');
  });
});
