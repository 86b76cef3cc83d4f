import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AccessKey, CatalogueKey, SitesKey } from '../../src/app/keys.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

const password = 'seven quiet tortoises';
const hour = 60 * 60_000;

let dashboard: RunningDashboard;
let owner: Owner;
beforeAll(async () => {
  const settings = { SMTP_URL: 'smtp://127.0.0.1:2525', MAIL_FROM: 'store@shop.example' };
  dashboard = await startDashboard({ settings });
  owner = await dashboard.newOwner();
});
afterAll(() => dashboard.close());

describe('a form that is sent after the session has ended', () => {
  const fieldsOf = (markup: string) =>
    Object.fromEntries(
      elementsIn(markup, 'input').map(({ attributes: { name = '', value } }) => [name, value]),
    );

  test('comes back filled in after the sign-in, and changes nothing before it is sent again', async () => {
    const { visitor, email, accountId } = owner;
    await visitor.post('/dashboard/account/password', { wanted: password });
    dashboard.clock.advance(13 * hour);
    const typed = { name: 'Rex "the <fast>"', categoryId: '7', once: 'only-in-this-test' };
    const asked = await visitor.post('/dashboard/animals?status=sold', typed);
    expect(textOf(asked.text)).toContain('Your session has ended. Nothing was done.');
    const { kept = '', action = '' } = {
      ...fieldsOf(asked.text),
      ...elementsIn(asked.text, 'form')[0]?.attributes,
    };
    expect(action).toBe('/dashboard/sign-in?next=/dashboard/animals');
    const wrong = await visitor.post(action, { email, password: 'another', kept });
    expect(fieldsOf(wrong.text)['kept']).toBe(kept);
    dashboard.clock.advance(60_000);
    const { status, text } = await visitor.post(action, { email, password, kept });
    expect([status, textOf(text)]).toEqual([
      200,
      expect.stringContaining('What you entered is here again'),
    ]);
    expect(fieldsOf(text)).toMatchObject({ name: typed.name, categoryId: '7' });
    expect(text).not.toContain('data-live');
    const pets = dashboard.container.get(CatalogueKey);
    expect(await pets.newestPets(accountId, { before: undefined, limit: 9 })).toEqual([]);
    const again = await visitor.post('/dashboard/animals', {
      ...typed,
      ...{ once: 'once-more-of-it' },
    });
    expect(again.status).toBe(303);
  });

  test('keeps no password', async () => {
    const { email } = await dashboard.newOwner();
    const visitor = await dashboard.signIn(email);
    dashboard.clock.advance(13 * hour);
    const { text } = await visitor.post('/dashboard/account/password', { wanted: password });
    expect(text).not.toContain(password);
    expect(fieldsOf(text)['kept']).toBe('{"url":"/dashboard/account/password","values":{}}');
  });

  test('that is too long to go along with the sign-in leads to it all the same', async () => {
    const settings = '"'.repeat(20_000);
    const { status, text } = await dashboard
      .stranger()
      .post('/dashboard/projects/birds/settings/configuration', { settings });
    expect([status, Object.keys(fieldsOf(text))]).toEqual([200, ['email', 'password']]);
  });

  test('comes back in the account that its person chooses', async () => {
    const access = dashboard.container.get(AccessKey);
    const email = 'mia@shop.example';
    for (const name of ['Cats', 'Dogs']) {
      const { account } = await access.createAccount({ name, email, plan: 'pro' });
      const { secret } = await access.signInLinkFor(email, account.id);
      const session = await access.signInByLink(secret, { network: '192.0.2.9', browser: '' });
      const signedIn = await access.findSession(session.secret);
      await access.choosePassword(signedIn!, { current: '', wanted: password });
    }
    const visitor = dashboard.stranger();
    const asked = await visitor.post('/dashboard', { name: 'Parrots' });
    const { kept = '' } = fieldsOf(asked.text);
    const chooser = await visitor.post('/dashboard/sign-in', { email, password, kept });
    const [, dogs] = elementsIn(chooser.text, 'form').filter(({ text }) => text.includes('Open'));
    const { text } = await visitor.post(dogs?.attributes['action'] ?? '', { kept });
    expect(fieldsOf(text)['name']).toBe('Parrots');
    expect(text).toContain('Dogs</a>');
  });

  test('that is no longer known leads to the first page', async () => {
    const kept = JSON.stringify({ url: '/dashboard/gone', values: {} });
    const { email } = owner;
    const visitor = dashboard.stranger();
    const { location } = await visitor.post('/dashboard/sign-in', { email, password, kept });
    expect(location).toBe('/dashboard');
  });
});

test('a page that was asked for is reached through a link by mail, too', async () => {
  const visitor = dashboard.stranger();
  const { text } = await visitor.get('/dashboard/sign-in?next=/dashboard/usage');
  const links = elementsIn(text, 'a').map(({ attributes }) => attributes['href'] ?? '');
  const path = links.find((one) => one.startsWith('/dashboard/sign-in-link')) ?? '';
  const form = elementsIn((await visitor.get(path)).text, 'form')[0]?.attributes['action'] ?? '';
  await visitor.post(form, { email: owner.email });
  const link = await dashboard.linkFor(owner.email);
  expect((await visitor.post(`${link}?by=mail`)).location).toBe('/dashboard/usage');
});

describe('each page of the account', () => {
  const paths = [
    '/dashboard',
    '/dashboard/projects/parrots',
    '/dashboard/projects/parrots/settings/domains',
    ...['animals', 'keys', 'webhooks', 'usage', 'account', 'notices'].map(
      (one) => `/dashboard/${one}`,
    ),
  ];
  beforeAll(async () => {
    owner = await dashboard.newOwner();
  });

  test.each(['empty', 'used'])(
    'leaves out no level of headings where the account is %s',
    async (state) => {
      const { visitor, accountId } = owner;
      if (state === 'used')
        await dashboard.container.get(SitesKey).startProject(accountId, 'Parrots');
      for (const path of paths) {
        const { status, text } = await visitor.get(path);
        if (status === 404) continue;
        const levels = [...text.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
        const skipped = levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1);
        expect([path, skipped]).toEqual([path, []]);
      }
    },
  );

  test('prints no command, which only an operator could run', async () => {
    for (const path of paths) {
      const { text } = await owner.visitor.get(path);
      expect([path, /animal-store [a-z]+/.exec(text)]).toEqual([path, null]);
    }
  });

  test('does not say that an animal that was added as sold has an order', async () => {
    const draft = { name: 'Rex', categoryId: '7', status: 'sold', once: 'only-in-this-test' };
    const { location = '' } = await owner.visitor.post('/dashboard/animals', draft);
    const text = textOf((await owner.visitor.get(location)).text);
    expect(text).toContain('No orders yet Press “Sell” on an animal');
    expect(text).toContain('An animal that is added as sold has no order.');
  });
});
