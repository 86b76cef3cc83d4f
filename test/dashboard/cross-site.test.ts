import { unsubscribePath } from '../../src/adapters/dashboard/frame/same-origin.ts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { crawl, routeOf, type FoundForm } from '../support/dashboard/crawl.ts';
import { everythingStored } from '../support/dashboard/database.ts';
import { fill } from '../support/dashboard/filling.ts';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

/** What somebody types into the forms that need it, by the route that takes it. */
const typed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/dashboard': { name: 'Planted' },
  '/dashboard/animals': { name: 'Planted', categoryId: '1' },
  '/dashboard/keys': { name: 'Planted', scopes: 'pets:read', expires: '' },
  '/dashboard/keys/:key/rotate': { overlap: '0' },
  '/dashboard/account/people': { email: 'planted@evil.test' },
  '/dashboard/account/mail': { on: 'domain.live', shown: 'domain.live,key.banned' },
  '/dashboard/account/password': { wanted: 'chosen by somebody else' },
  '/dashboard/projects/:slug/settings/domains': { domain: 'planted.birds.test' },
  '/dashboard/projects/:slug/settings/redirects': {
    from: 'www.birds.test',
    to: 'https://evil.test/',
  },
  '/dashboard/projects/:slug/settings/primary-domain': { primary: 'shop.birds.test' },
};

let dashboard: RunningDashboard;
let owner: Owner;
/** One form for each route that takes any. */
let forms: ReadonlyMap<string, FoundForm>;
beforeAll(async () => {
  const settings = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'store@zoo.example' };
  dashboard = await startDashboard({ settings });
  owner = await dashboard.newOwner();
  await fill(dashboard, owner, 'birds.test');
  const found = (await crawl(owner.visitor)).forms.filter(({ method }) => method === 'POST');
  forms = new Map(
    found.map((form) => [routeOf(dashboard.routes, 'POST', form.action) ?? form.action, form]),
  );
});
afterAll(() => dashboard.close());

const send = (
  visitor: DashboardVisitor,
  route: string,
  headers: Readonly<Record<string, string>>,
) => {
  const { action, fields } = forms.get(route) ?? { action: route, fields: {} };
  return visitor.send(action, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ ...fields, ...typed[route] }).toString(),
  });
};

test('this test knows every route that takes forms, and every form has a route', () => {
  const taking = dashboard.routes.filter(({ method }) => method === 'POST').map(({ path }) => path);
  const known = [...forms.keys(), ...unlinked, unsubscribePath];
  expect(taking.filter((path) => !known.includes(path))).toEqual([]);
  expect(known.filter((path) => !taking.includes(path))).toEqual([]);
  expect(Object.keys(typed).filter((path) => !known.includes(path))).toEqual([]);
});

/** Routes that take forms of pages to which the pages of one account do not lead. */
const unlinked = [
  ...['/dashboard/sign-in', '/dashboard/sign-in/:token', '/dashboard/accounts/:person'],
  '/dashboard/account/new-password',
  ...['/dashboard/forgot-password', '/dashboard/sign-in-link'],
];

type Told = Readonly<Record<string, string>>;

/** ORIGIN stands for our own. */
const elsewhere: readonly Told[] = [
  { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: 'ORIGIN' },
  { 'Sec-Fetch-Site': 'same-site', Origin: 'ORIGIN' },
  { 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': 'same-origin, cross-site' },
  { Origin: 'https://evil.test' },
  { Origin: 'null' },
  { Origin: 'ORIGIN.evil.test' },
  { Origin: 'http://127.0.0.1' },
];
const ours: readonly Told[] = [
  { 'Sec-Fetch-Site': 'same-origin' },
  { 'Sec-Fetch-Site': 'none' },
  { Origin: 'ORIGIN' },
  // No browser.
  {},
];

const withOrigin = (told: Told): Told =>
  JSON.parse(JSON.stringify(told).replace('ORIGIN', dashboard.origin)) as Told;

test.each(elsewhere)('no form has an effect when it comes with %j', async (told) => {
  const before = everythingStored(dashboard.databaseUrl);
  for (const route of [...forms.keys(), ...unlinked]) {
    const { status, headers } = await send(owner.visitor, route, withOrigin(told));
    expect([route, status, headers.getSetCookie()]).toEqual([route, 403, []]);
  }
  expect(everythingStored(dashboard.databaseUrl)).toEqual(before);
});

test.each(ours)('a form that comes with %j is accepted', async (told) => {
  const { status } = await send(dashboard.stranger(), '/dashboard/sign-in', withOrigin(told));
  expect(status).toBe(422);
});

test('the same forms are accepted from their own pages, and nearly all change something', async () => {
  const done = [];
  for (const route of forms.keys()) {
    const visitor = await dashboard.signIn(owner.email);
    const before = everythingStored(dashboard.databaseUrl);
    const { status } = await send(visitor, route, { 'Sec-Fetch-Site': 'same-origin' });
    expect([route, status]).not.toEqual([route, 403]);
    // One may have taken from another what that is about: then it is refused for another reason.
    if (status >= 400) continue;
    expect([route, everythingStored(dashboard.databaseUrl)]).not.toEqual([route, before]);
    done.push(route);
  }
  expect(done.length).toBeGreaterThan(0.6 * forms.size);
});
