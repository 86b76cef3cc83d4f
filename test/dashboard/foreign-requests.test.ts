import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { unsubscribePath } from '../../src/adapters/dashboard/frame/paths.ts';
import { SitesKey } from '../../src/app/keys.ts';
import { crawl, type Crawl, type FoundForm, routeOf } from '../support/dashboard/crawl.ts';
import { everythingStored } from '../support/dashboard/database.ts';
import { fill } from '../support/dashboard/filling.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';

let dashboard: RunningDashboard;
let mine: Owner;
let theirs: Owner;
let seen: Crawl;
let slug: string;
let mySlug: string;
let forms: ReadonlyMap<string, FoundForm>;
beforeAll(async () => {
  const settings = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'store@zoo.example' };
  dashboard = await startDashboard({ settings });
  mine = await dashboard.newOwner();
  theirs = await dashboard.newOwner();
  slug = await fill(dashboard, theirs, 'birds.test');
  seen = await crawl(theirs.visitor);
  const sites = dashboard.container.get(SitesKey);
  mySlug = (await sites.startProject(mine.accountId, 'Mine')).slug;
  const found = seen.forms.filter(({ method }) => method === 'POST');
  forms = new Map(
    found.map((form) => [routeOf(dashboard.routes, 'POST', form.action) ?? form.action, form]),
  );
});
afterAll(() => dashboard.close());

const isOfOneThing = (method: string, path: string): boolean =>
  routeOf(dashboard.routes, method, path)?.includes(':') ?? false;

const pathsOfThings = (): readonly string[] =>
  [...seen.pages.keys()].filter((path) => isOfOneThing('GET', path));

/** Pages without links to them, because they answer forms. The help is for everybody. */
const afterForms =
  /^\/dashboard\/(help\/|sign-in\/:token|shared-domain\/:secret|projects\/:slug\/deploys|keys\/|account\/)/;

test('these tests cover every page about a single resource', () => {
  const known = pathsOfThings().map((path) => routeOf(dashboard.routes, 'GET', path));
  const missing = dashboard.routes.filter(
    ({ method, path }) => method === 'GET' && path.includes(':') && !known.includes(path),
  );
  expect(missing.filter(({ path }) => !afterForms.test(path))).toEqual([]);
});

test("pages about another account's resources are 404", async () => {
  const nowhere = await mine.visitor.get('/dashboard/nowhere');
  const paths = pathsOfThings();
  for (const path of paths) {
    const { status, text } = await mine.visitor.get(path);
    expect([path, status]).toEqual([path, 404]);
    expect(text).toBe(nowhere.text);
    expect((await theirs.visitor.get(path)).status).toBeLessThan(400);
  }
  expect(paths.length).toBeGreaterThan(12);
});

test("live updates for another account's resources are 404", async () => {
  for (const path of pathsOfThings()) {
    const stream = await DashboardStream.open(mine.visitor, path);
    stream.close();
    expect([path, stream.status]).toEqual([path, 404]);
  }
});

test('no form changes a resource of another account', async () => {
  const before = everythingStored(dashboard.databaseUrl);
  const all = seen.forms.filter(
    ({ method, action }) => method === 'POST' && isOfOneThing('POST', action),
  );
  // Three people of each role, because each person may send a limited number of forms a minute.
  const byRoute = Map.groupBy(all, ({ action }) => routeOf(dashboard.routes, 'POST', action));
  const forms = [...byRoute.values()].flatMap((some) => some.slice(0, 3));
  for (const { action, fields } of forms) {
    const { status } = await mine.visitor.post(action, { ...fields, overlap: '0' });
    expect([action, status]).toEqual([action, 404]);
  }
  expect(forms.length).toBeGreaterThan(25);
  expect(everythingStored(dashboard.databaseUrl)).toEqual(before);
});

test("your own project's pages find nothing of another account", async () => {
  dashboard.clock.advance(60_000);
  await mine.visitor.get('/dashboard');
  const before = everythingStored(dashboard.databaseUrl);
  const through = (path: string) => path.replace(`/projects/${slug}`, `/projects/${mySlug}`);
  const domains = pathsOfThings().filter((path) => /\/settings\/domains\/./.test(path));
  expect(domains.length).toBeGreaterThan(5);
  for (const path of domains) {
    expect([path, (await mine.visitor.get(through(path))).status]).toEqual([path, 404]);
  }
  for (const { action, fields } of seen.forms.filter((form) => form.action.includes(slug))) {
    if (!/\/(domains|deploys)\/./.test(action)) continue;
    const { status } = await mine.visitor.post(through(action), fields);
    expect([action, status]).toEqual([action, 404]);
  }
  expect(everythingStored(dashboard.databaseUrl)).toEqual(before);
});

test('your own pages show nothing of another account', async () => {
  const own = await crawl(mine.visitor);
  const foreign = idsIn(seen);
  expect(foreign.size).toBeGreaterThan(20);
  expect([...idsIn(own)].filter((id) => foreign.has(id))).toEqual([]);
  const text = textIn(own);
  for (const word of [theirs.email, slug, 'birds.test', '9007199254740993']) {
    expect(textIn(seen)).toContain(word);
    expect(text).not.toContain(word);
  }
});

const textIn = ({ pages }: Crawl): string => [...pages.values()].map(({ text }) => text).join('\n');

const idsIn = (found: Crawl): Set<string> =>
  new Set([...textIn(found).matchAll(/\b[a-z]+_[0-9a-f]{32}\b/g)].map(([id]) => id));

const typed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/dashboard': { name: 'Planted' },
  '/dashboard/animals': { name: 'Planted', categoryId: '1' },
  '/dashboard/animals/:id': { name: 'Planted', categoryId: '1' },
  '/dashboard/keys': { name: 'Planted', scopes: 'pets:read', expires: '' },
  '/dashboard/keys/:key/rotate': { overlap: '0' },
  '/dashboard/account/people': { email: 'planted@evil.test', role: 'owner' },
  '/dashboard/me/name': { name: 'Planted' },
  '/dashboard/account/name': { name: 'Planted' },
  '/dashboard/account/people/:person/role': { role: 'viewer' },
  '/dashboard/me/mail': { on: 'domain.live', shown: 'domain.live,key.banned' },
  '/dashboard/me/password': { wanted: 'chosen by somebody else' },
  '/dashboard/projects/:slug/settings/name': { name: 'Planted' },
  '/dashboard/projects/:slug/settings/address': { slug: 'planted' },
  '/dashboard/projects/:slug/settings/domains': { domain: 'planted.birds.test' },
  '/dashboard/projects/:slug/settings/redirects': {
    from: 'www.birds.test',
    to: 'https://evil.test/',
  },
  '/dashboard/projects/:slug/settings/primary-domain': { primary: 'shop.birds.test' },
};

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

test('this test covers every route that accepts forms, and every form has a route', () => {
  const taking = dashboard.routes.filter(({ method }) => method === 'POST').map(({ path }) => path);
  const known = [...forms.keys(), ...unlinked, unsubscribePath];
  expect(taking.filter((path) => !known.includes(path))).toEqual([]);
  expect(known.filter((path) => !taking.includes(path))).toEqual([]);
  expect(Object.keys(typed).filter((path) => !known.includes(path))).toEqual([]);
});

const unlinked = [
  ...['/dashboard/sign-in', '/dashboard/sign-in/:token', '/dashboard/accounts/:person'],
  '/dashboard/account/new-password',
  ...['/dashboard/forgot-password', '/dashboard/sign-in-link'],
  ...['/dashboard/second-factor', '/dashboard/confirm'],
  ...['/dashboard/account/restore', '/dashboard/account/deleted/:slug/restore'],
  ...[':method/remove', 'recovery'].map((form) => `/dashboard/me/second-factor/${form}`),
];

type Told = Readonly<Record<string, string>>;

/** ORIGIN stands for the dashboard's own origin. */
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
  {},
];

const withOrigin = (told: Told): Told =>
  JSON.parse(JSON.stringify(told).replace('ORIGIN', dashboard.origin)) as Told;

test.each(elsewhere)('no form takes effect when it comes with %j', async (told) => {
  const before = everythingStored(dashboard.databaseUrl);
  for (const route of [...forms.keys(), ...unlinked]) {
    const { status, headers } = await send(theirs.visitor, route, withOrigin(told));
    expect([route, status, headers.getSetCookie()]).toEqual([route, 403, []]);
  }
  expect(everythingStored(dashboard.databaseUrl)).toEqual(before);
});

test.each(ours)('a form that comes with %j is accepted', async (told) => {
  const { status } = await send(dashboard.stranger(), '/dashboard/sign-in', withOrigin(told));
  expect(status).toBe(422);
});

test('the same forms are accepted from their own pages, and nearly all of them change something', async () => {
  const done = [];
  const demand = '/dashboard/account/second-factor';
  for (const route of [...[...forms.keys()].filter((one) => one !== demand), demand]) {
    const visitor = await dashboard.signIn(theirs.email);
    const before = everythingStored(dashboard.databaseUrl);
    const { status } = await send(visitor, route, { 'Sec-Fetch-Site': 'same-origin' });
    expect([route, status]).not.toEqual([route, 403]);
    if (route.endsWith('/verify-domains')) continue;
    if (status >= 400) continue;
    expect([route, everythingStored(dashboard.databaseUrl)]).not.toEqual([route, before]);
    done.push(route);
  }
  expect(done.length).toBeGreaterThan(0.6 * forms.size);
});
