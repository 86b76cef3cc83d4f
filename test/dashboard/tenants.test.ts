import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SitesKey } from '../../src/app/keys.ts';
import { crawl, routeOf, type Crawl } from '../support/dashboard/crawl.ts';
import { everythingStored } from '../support/dashboard/database.ts';
import { fill } from '../support/dashboard/filling.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

let dashboard: RunningDashboard;
let mine: Owner;
let theirs: Owner;
/** All that somebody else can see and do. */
let seen: Crawl;
let slug: string;
/** A project of mine, served and with a domain. */
let mySlug: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  mine = await dashboard.newOwner();
  theirs = await dashboard.newOwner();
  slug = await fill(dashboard, theirs, 'birds.test');
  seen = await crawl(theirs.visitor);
  const sites = dashboard.container.get(SitesKey);
  mySlug = (await sites.startProject(mine.accountId, 'Mine')).slug;
});
afterAll(() => dashboard.close());

const isOfOneThing = (method: string, path: string): boolean =>
  routeOf(dashboard.routes, method, path)?.includes(':') ?? false;

const pathsOfThings = (): readonly string[] =>
  [...seen.pages.keys()].filter((path) => isOfOneThing('GET', path));

/** Pages that no link leads to: they come of forms, and a reload there leads to a page that does not tell. */
const afterForms =
  /^\/dashboard\/(sign-in\/:token|shared-domain\/:secret|projects\/:slug\/deploys|keys\/|account\/)/;

test('these tests cover every page about a single thing', () => {
  const known = pathsOfThings().map((path) => routeOf(dashboard.routes, 'GET', path));
  const missing = dashboard.routes.filter(
    ({ method, path }) => method === 'GET' && path.includes(':') && !known.includes(path),
  );
  expect(missing.filter(({ path }) => !afterForms.test(path))).toEqual([]);
});

test('pages about things of another account are 404', async () => {
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

test('live updates of things of another account are 404', async () => {
  for (const path of pathsOfThings()) {
    const stream = await DashboardStream.open(mine.visitor, path);
    stream.close();
    expect([path, stream.status]).toEqual([path, 404]);
  }
});

test('no form changes a thing of another account', async () => {
  const before = everythingStored(dashboard.databaseUrl);
  const forms = seen.forms.filter(
    ({ method, action }) => method === 'POST' && isOfOneThing('POST', action),
  );
  for (const { action, fields } of forms) {
    const { status } = await mine.visitor.post(action, { ...fields, overlap: '0' });
    expect([action, status]).toEqual([action, 404]);
  }
  expect(forms.length).toBeGreaterThan(25);
  expect(everythingStored(dashboard.databaseUrl)).toEqual(before);
});

test('nothing of another account is found below your own project', async () => {
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
