import { expect, test } from '@jest/globals';
import type { TestPage } from '../../support/dashboard/page.ts';
import { browseDashboard } from '../../support/dashboard/dashboard-page.ts';
import { crawl, routeOf, type Crawl, type FoundForm } from '../../support/dashboard/crawl.ts';
import { fill, hostile } from '../../support/dashboard/filling.ts';
import type { Owner } from '../../support/dashboard/running-dashboard.ts';

/** Would end an attribute rather than an element. */
const quoted = `" autofocus onfocus=alert(1) x='`;

let owner: Owner;
let found: Crawl;
const browsed = browseDashboard(async ({ dashboard }) => {
  owner = await dashboard.newOwner({ name: hostile });
  await fill(dashboard, owner, 'birds.test');
  found = await crawl(owner.visitor);
});

const visit = (path: string): Promise<TestPage> =>
  browsed.visit(path, { cookie: owner.visitor.cookie });

/** Elements and attributes that no template of ours has. */
const strange = (page: TestPage): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`[
    ...[...document.scripts].filter(({ src }) => !src.startsWith(origin + '/dashboard/assets/')),
    ...[...document.images].filter(({ src }) => !src.startsWith(origin + '/dashboard/assets/')),
    ...[...document.querySelectorAll('*')].filter(({ attributes }) =>
      [...attributes].some(({ name }) => name.startsWith('on'))),
    ...[...document.links].filter(({ protocol }) => !protocol.startsWith('http')),
  ].map((one) => one.outerHTML)`);

/** Skips the first message, which the page has already shown. */
const afterLiveUpdate = `'live' in document.querySelector('main').dataset && new Promise((resolve) => {
  const updates = new EventSource(location.pathname + location.search);
  updates.addEventListener('page', () => resolve(updates.close()));
})`;

test('hostile names are text on every page, in its title, and after its live update', async () => {
  const page = await visit('/dashboard');
  let shown = 0;
  // Browsers download the others.
  const pages = [...found.pages].filter(([path]) => !path.includes('.csv'));
  for (const [path, { status }] of pages) {
    expect([path, status]).toEqual([path, 200]);
    await page.goto(browsed.dashboard.origin + path);
    await page.evaluate(afterLiveUpdate);
    expect([path, await strange(page)]).toEqual([path, []]);
    if ((await page.css('body').read()).includes(hostile)) shown += 1;
  }
  expect(shown).toBe(pages.length);
});

/** One form of each kind with fields. */
const forms = (): ReadonlyMap<string | undefined, FoundForm> => {
  const posts = found.forms.filter(({ method, fields }) => method === 'POST' && names(fields) > 0);
  const { routes } = browsed.dashboard;
  return new Map(posts.map((form) => [routeOf(routes, 'POST', form.action), form]));
};

const names = (fields: FoundForm['fields']): number =>
  Object.keys(fields).filter((name) => name !== 'once' && name !== 'archive').length;

/** Sends one of our forms like a browser without restrictions for its fields. */
const submit = (page: TestPage, { action, fields }: FoundForm, text: string): Promise<unknown> => {
  const typed = Object.keys(fields).map((name) => [name, name === 'once' ? fields[name] : text]);
  return Promise.all([
    page.happens('load'),
    page.evaluate(`(() => {
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action: ${JSON.stringify(action)} });
      for (const [name, value] of ${JSON.stringify(typed)}) {
        form.append(Object.assign(document.createElement('textarea'), { name, value }));
      }
      document.body.append(form);
      form.submit();
    })()`),
  ]);
};

test.each([
  ['an element', hostile],
  ['an attribute', quoted],
  ['an address', 'javascript:alert(1)'],
  ['the direction of text', 'shop\u202eevil\u2067'],
])('text that could become %s is shown as text, both stored and refused', async (_, text) => {
  const page = await visit('/dashboard');
  for (const [route, form] of forms()) {
    await submit(page, form, text);
    expect([route, await strange(page)]).toEqual([route, []]);
    expect([route, /\p{Bidi_Control}/u.test(await page.raw.content())]).toEqual([route, false]);
    expect(await page.raw.title()).not.toContain('Our fault');
  }
  expect(forms().size).toBeGreaterThan(10);
});

test('hostile text stays text on the sign-in page', async () => {
  const page = await browsed.visit(
    '/dashboard/sign-in?next=%22%3E%3Cscript%3Ealert(1)%3C/script%3E',
    {
      cookie: undefined,
    },
  );
  const action = await page.css('main form').read('action');
  for (const text of [hostile, quoted]) {
    await submit(page, { ...signInForm, action: new URL(action).pathname }, text);
    await page.role('alert').isShown();
    expect(await strange(page)).toEqual([]);
    expect(await page.label('Email').read('value')).toBe(text);
  }
});

const signInForm: FoundForm = {
  page: '/dashboard/sign-in',
  method: 'POST',
  action: '/dashboard/sign-in',
  fields: { email: '', password: '' },
};
