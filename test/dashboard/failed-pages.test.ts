import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AccessKey, SitesKey } from '../../src/app/keys.ts';
import { elementsIn, problemsIn } from '../support/dashboard/markup.ts';
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
  await dashboard.container.get(SitesKey).startProject(owner.accountId, 'Birds');
});
afterAll(() => dashboard.close());

/** Where the links of the page lead: those of the bar, and those in the middle. */
const linksIn = (markup: string) => {
  const [bar = '', main = ''] = markup.split('<main');
  const hrefs = (part: string) => elementsIn(part, 'a').map(({ attributes }) => attributes['href']);
  return { bar: hrefs(bar), main: hrefs(main) };
};

test.each([
  ['what is not there', '/dashboard/nowhere', '/dashboard'],
  ['a project of nobody', '/dashboard/projects/nobodys', '/dashboard'],
])('%s keeps the navigation', async (_, path, back) => {
  const { status, text } = await owner.visitor.get(path);
  expect(status).toBe(404);
  expect(linksIn(text)).toMatchObject({
    bar: expect.arrayContaining(['/dashboard/animals', '/dashboard/account']),
    main: [back],
  });
  expect(elementsIn(text, 'button').map((one) => one.text)).toContain('Sign out');
});

test.each([
  ['of a key that is not there', '/dashboard/keys/key_1/revoke', {}, 404, '/dashboard/keys'],
  [
    'without what tells it apart',
    '/dashboard/keys',
    { name: 'Till', scopes: 'pets:read', expires: '' },
    400,
    '/dashboard/keys',
  ],
  [
    'of a session that is not there',
    '/dashboard/account/sessions/sess_1/end',
    {},
    404,
    '/dashboard/account',
  ],
  [
    'of a deploy that is not there',
    '/dashboard/projects/birds/deploys/7/roll-back',
    {},
    404,
    '/dashboard',
  ],
])('the error page of a form %s links back', async (_, path, fields, expected, back) => {
  const { status, text } = await owner.visitor.post(path, fields);
  expect(status).toBe(expected);
  expect(linksIn(text)).toMatchObject({
    bar: expect.arrayContaining(['/dashboard/usage']),
    main: [back],
  });
});

test('a form that another request already used up links back to its page', async () => {
  const { text } = await owner.visitor.get('/dashboard');
  const once = elementsIn(text, 'input').find(({ attributes }) => attributes['name'] === 'once');
  const send = (name: string) =>
    owner.visitor.post('/dashboard', { name, once: once?.attributes['value'] ?? '' });
  expect((await send('Fish')).status).toBe(303);
  const again = await send('Cats');
  expect(again.status).toBe(409);
  expect(linksIn(again.text)).toMatchObject({ main: ['/dashboard'] });
  expect(linksIn(again.text).bar).toContain('/dashboard/keys');
});

test('owners who try to remove themselves see the reason on the people page', async () => {
  const [person] = await dashboard.container.get(AccessKey).listPeople(owner.accountId);
  const path = `/dashboard/account/people/${person?.id ?? ''}/remove`;
  const { status, text } = await owner.visitor.post(path);
  expect(status).toBe(422);
  expect(problemsIn(text)).toEqual({ form: expect.stringMatching(/^You cannot remove yourself/) });
  expect(elementsIn(text, 'h2').map((one) => one.text)).toContain('People');
});

test('too many password attempts on the account page are refused with a time to wait', async () => {
  const access = dashboard.container.get(AccessKey);
  const wanted = 'seven quiet tortoises';
  await owner.visitor.post('/dashboard/account/password', { wanted });
  const visitor = dashboard.stranger();
  await visitor.post('/dashboard/sign-in', { email: owner.email, password: wanted });
  expect(await access.listPeople(owner.accountId)).toHaveLength(1);
  const statuses: number[] = [];
  let last;
  for (let i = 0; i < 6; i++) {
    last = await visitor.post('/dashboard/account/password', { current: 'x', wanted });
    statuses.push(last.status);
  }
  expect(statuses).toEqual([422, 422, 422, 422, 422, 429]);
  expect(Number(last?.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
  expect(problemsIn(last?.text ?? '')['form']).toMatch(/^Too many attempts with a password/);
});

test('visitors without a session see no navigation, and a link to the first page', async () => {
  const { status, text } = await dashboard.stranger().get('/dashboard/nowhere');
  expect(status).toBe(404);
  expect(linksIn(text)).toEqual({ bar: ['#main', '/dashboard'], main: ['/dashboard'] });
});
