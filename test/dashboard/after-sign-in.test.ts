import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { signedCode } from '../../src/adapters/dashboard/frame/sent-form.ts';
import { AccessKey, CatalogueKey } from '../../src/app/keys.ts';
import { elementsIn, problemsIn, textOf } from '../support/dashboard/markup.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import type { DashboardVisitor, PageAnswer } from '../support/dashboard/visitor.ts';

const email = 'mia@shop.example';
const password = 'seven quiet tortoises';
const hour = 60 * 60_000;

const openAccount = async ({
  name,
  email,
  wanted,
}: Readonly<Record<'name' | 'email' | 'wanted', string>>): Promise<void> => {
  const access = dashboard.container.get(AccessKey);
  const { account } = await access.createAccount({ name, email, plan: 'pro' });
  const { secret } = await access.signInLinkFor(email, account.id);
  const from = { network: '192.0.2.200', browser: 'Firefox' };
  const session = await access.signInByLink(secret, from);
  const signedIn = await access.findSession(session.secret);
  await access.choosePassword(signedIn!, { current: '', wanted });
};

const settings = { SMTP_URL: 'smtp://127.0.0.1:2525', MAIL_FROM: 'store@shop.example' };
let dashboard: RunningDashboard;
beforeAll(async () => {
  dashboard = await startDashboard({ settings });
  for (const name of ['Zoo', 'Birds', 'Cats & Dogs']) {
    const wanted = name === 'Birds' ? 'another password of mine' : password;
    await openAccount({ name, email, wanted });
  }
});
afterAll(() => dashboard.close());
beforeEach(() => {
  dashboard.clock.advance(60_000);
});

const signIn = async (its = password, query = ''): Promise<DashboardVisitor> => {
  const visitor = dashboard.stranger();
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
  test('offers the accounts that the password opens after the sign-in, and then leads to the requested page', async () => {
    const query = '?next=/dashboard/usage';
    const visitor = await signIn(password, query);
    const [zoo = '', cats = '', ...more] = await choices(visitor, query);
    expect(more).toEqual([]);
    expect(await barOf(visitor)).toContain('Zoo');
    const { cookie } = visitor;
    expect(await visitor.post(cats)).toMatchObject({ status: 303, location: '/dashboard/usage' });
    expect(await barOf(visitor)).toContain('Cats &amp; Dogs');
    expect((await visitor.post(zoo)).status).toBe(303);
    expect((await visitor.post(zoo)).status).toBe(303);
    expect(await barOf(visitor)).toContain('Zoo');
    visitor.cookie = cookie;
    expect((await visitor.get('/dashboard')).status).toBe(303);
  });

  test('leads straight to the only account that the password opens', async () => {
    const visitor = await signIn('another password of mine');
    expect(await barOf(visitor)).toContain('Birds');
    expect(await barOf(visitor)).not.toContain('/dashboard/accounts');
    expect(await choices(visitor)).toHaveLength(1);
  });

  test('does not open an account by its id unless the password opened it', async () => {
    const visitor = await signIn();
    const [mine = ''] = await choices(visitor);
    const [birds = ''] = await choices(await signIn('another password of mine'));
    for (const path of [birds, `${mine}x`]) expect((await visitor.post(path)).status).toBe(404);
    expect(await barOf(visitor)).toContain('Zoo');
  });
});

describe('a form that is sent after the session has ended', () => {
  let owner: Owner;
  beforeAll(async () => {
    owner = await dashboard.newOwner();
  });

  const fieldsOf = (markup: string) =>
    Object.fromEntries(
      elementsIn(markup, 'input').map(({ attributes: { name = '', value = '' } }) => [name, value]),
    );

  test('comes back filled in after the sign-in, and changes nothing until it is sent again', async () => {
    const { visitor, email, accountId } = owner;
    await visitor.post('/dashboard/me/password', { wanted: password });
    dashboard.clock.advance(13 * hour);
    visitor.cookie = undefined;
    const typed = { name: 'Rex "the <fast>"', categoryId: '7', once: 'only-in-this-test' };
    const asked = await visitor.post('/dashboard/animals?status=sold', typed);
    expect(textOf(asked.text)).toContain('Your session has ended, so this form was not accepted.');
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
    expect(await pets.searchPets(accountId, { order: 'newest', limit: 9 })).toEqual([]);
    const again = await visitor.post('/dashboard/animals', { ...typed, once: 'once-more-of-it' });
    expect(again.status).toBe(303);
  });

  test('is kept without passwords', async () => {
    const { email } = await dashboard.newOwner();
    const visitor = await dashboard.signIn(email);
    dashboard.clock.advance(13 * hour);
    const { text } = await visitor.post('/dashboard/me/password', { wanted: password });
    expect(text).not.toContain(password);
    expect(fieldsOf(text)['kept']).toBe('{"url":"/dashboard/me/password","values":{}}');
  });

  test('that is too large to keep still leads to its page after the sign-in', async () => {
    const settings = '"'.repeat(20_000);
    const { status, text } = await dashboard
      .stranger()
      .post('/dashboard/projects/birds/settings/configuration', { settings });
    expect([status, Object.keys(fieldsOf(text))]).toEqual([200, ['email', 'password']]);
  });

  test('comes back in the account that the person chooses', async () => {
    const email = 'leo@shop.example';
    for (const name of ['Cats', 'Dogs']) await openAccount({ name, email, wanted: password });
    const visitor = dashboard.stranger();
    const asked = await visitor.post('/dashboard', { name: 'Parrots' });
    const { kept = '' } = fieldsOf(asked.text);
    const chooser = await visitor.post('/dashboard/sign-in', { email, password, kept });
    const [, dogs] = elementsIn(chooser.text, 'form').filter(({ text }) => text.includes('Open'));
    const { text } = await visitor.post(dogs?.attributes['action'] ?? '', { kept });
    expect(fieldsOf(text)['name']).toBe('Parrots');
    expect(text).toContain('title="Dogs: switch');
  });

  test('is refused with the reason in an account where the person may not send it', async () => {
    const { accountId } = await dashboard.newOwner();
    const { person } = await dashboard.container
      .get(AccessKey)
      .invite(accountId, 'zoe@shop.example', 'viewer');
    const viewer = await dashboard.signIn(person.email);
    await viewer.post('/dashboard/me/password', { wanted: password });
    const visitor = dashboard.stranger();
    const asked = await visitor.post('/dashboard', { name: 'Parrots' });
    const { kept = '' } = fieldsOf(asked.text);
    const sent = { email: person.email, password, kept };
    const { status, text } = await visitor.post('/dashboard/sign-in', sent);
    expect([status, textOf(text)]).toEqual([
      403,
      expect.stringContaining('Only an editor may create a project.'),
    ]);
  });

  /** Fills in the form that has this button, and sends it. */
  const press = (
    visitor: DashboardVisitor,
    button: string,
    { on, typed = {} }: { readonly on: PageAnswer; readonly typed?: Record<string, string> },
  ) => {
    const forms = [...on.text.matchAll(/<form[^]*?<\/form>/g)].map(([form]) => form);
    const form = forms.find((one) => one.includes(`>${button}</button>`)) ?? '';
    const action = elementsIn(form, 'form')[0]?.attributes['action'] ?? `no button ${button}`;
    return visitor.post(action, { ...fieldsOf(form), ...typed });
  };

  test.each(['Sign in by a link', 'Forgot password?'])(
    'also comes back filled in after a sign-in by a mailed link (%s)',
    async (way) => {
      const { email, accountId } = await dashboard.newOwner();
      const visitor = dashboard.stranger();
      const typed = { name: 'Rex "the <fast>"', categoryId: '7' };
      const asked = await visitor.post('/dashboard/animals', typed);
      const request = await press(visitor, way, { on: asked });
      expect([request.status, problemsIn(request.text)]).toEqual([200, {}]);
      const send = (on: PageAnswer, email: string) =>
        press(visitor, 'Send the link', { on, typed: { email } });
      const unknown = await send(await send(request, 'no address'), 'nobody@zoo.example');
      const again = await press(visitor, 'Use another address', { on: unknown });
      const sent = await send(again, email);
      expect(sent.text.replaceAll(email, 'nobody@zoo.example')).toBe(unknown.text);

      const goOn = 'Continue after signing in';
      const early = await press(visitor, goOn, { on: sent });
      expect([early.status, problemsIn(early.text)]).toEqual([200, {}]);
      expect(fieldsOf(early.text)['kept']).toBe(fieldsOf(asked.text)['kept']);
      const link = await dashboard.linkFor(email);
      expect((await visitor.post(`${link}?by=mail`)).status).toBe(303);
      const { status, text } = await press(visitor, goOn, { on: sent });
      expect([status, textOf(text)]).toEqual([
        200,
        expect.stringContaining('What you entered is here again'),
      ]);
      expect(fieldsOf(text)).toMatchObject(typed);
      const pets = dashboard.container.get(CatalogueKey);
      expect(await pets.searchPets(accountId, { order: 'newest', limit: 9 })).toEqual([]);
    },
  );

  test('does not come back if another site sent it', async () => {
    const { visitor } = await dashboard.newOwner();
    const kept = JSON.stringify({ url: '/dashboard', values: { name: 'Planted' } });
    const from = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' };
    for (const path of ['sign-in', 'sign-in-link', 'forgot-password']) {
      const { status, text } = await visitor.post(`/dashboard/${path}`, { kept }, from);
      expect([path, status, text.includes('Planted')]).toEqual([path, 403, false]);
    }
  });

  test('leads to the first page once it is no longer kept', async () => {
    const kept = JSON.stringify({ url: '/dashboard/gone', values: {} });
    const { email } = owner;
    const visitor = dashboard.stranger();
    const { location } = await visitor.post('/dashboard/sign-in', { email, password, kept });
    expect(location).toBe('/dashboard');
  });
});

test('a browser with an ended session is told why it must sign in again, and a new browser is not', async () => {
  const owner = await dashboard.newOwner();
  const visitor = dashboard.stranger();
  await visitor.get(await dashboard.linkFor(owner.email));
  visitor.cookie = undefined;
  const asked = async (one: DashboardVisitor) => {
    const { location = '' } = await one.get('/dashboard/usage');
    return textOf((await one.get(location)).text);
  };
  expect(await asked(visitor)).toContain('Your session has ended. Sign in to continue.');
  expect(await asked(dashboard.stranger())).not.toContain('session');
  await visitor.post('/dashboard/sign-out');
  expect(textOf((await visitor.get('/dashboard/sign-in')).text)).not.toContain('session');
});

test('a link from elsewhere cannot show a notice on the sign-in page', async () => {
  const owner = await dashboard.newOwner();
  const visitor = dashboard.stranger();
  await visitor.get(await dashboard.linkFor(owner.email));
  visitor.cookie = undefined;
  const query = `?next=/dashboard/keys&done=${signedCode('', 'deleted')}`;
  const text = textOf((await visitor.get(`/dashboard/sign-in${query}`)).text);
  expect(text).toContain('Your session has ended.');
  expect(text).not.toContain('is deleted');
});

test('a requested page is also reached after a sign-in by a mailed link', async () => {
  const owner = await dashboard.newOwner();
  const visitor = dashboard.stranger();
  const { text } = await visitor.get('/dashboard/sign-in?next=/dashboard/usage');
  const links = elementsIn(text, 'a').map(({ attributes }) => attributes['href'] ?? '');
  const path = links.find((one) => one.startsWith('/dashboard/sign-in-link')) ?? '';
  const form = elementsIn((await visitor.get(path)).text, 'form')[0]?.attributes['action'] ?? '';
  await visitor.post(form, { email: owner.email });
  const link = await dashboard.linkFor(owner.email);
  expect((await visitor.post(`${link}?by=mail`)).location).toBe('/dashboard/usage');
});
