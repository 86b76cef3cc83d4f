import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sharedPath } from '../../src/adapters/dashboard/frame/paths.ts';
import { AccessKey, DomainsKey, SitesKey } from '../../src/app/keys.ts';
import { crawl, routeOf } from '../support/dashboard/crawl.ts';
import { uniqueColumns } from '../support/dashboard/database.ts';
import { fill } from '../support/dashboard/filling.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { RecordingTracer } from '../support/recording-tracer.ts';

/** Reads without a limit of their own, and what limits them. */
const bounded: Readonly<Record<string, string>> = {
  'projects by account_id': 'projects of the plan',
  'projects by account_id, state': 'projects of the plan, and `keptDeploys` of each',
  'projects by slug': '`keptDeploys` of one project, the served one, and `uploadSlots`',
  'domains by account_id, project_id': 'states of the domains of each project of the plan, counted',
  'domains by project_id': 'domains of the plan that are attached',
  'mail_choices by person_id': 'kinds of mail, once each for one person',
  'usage_hours by account_id': 'outcomes, once each for an hour of the range and for a key',
  'usage_hours by account_id, key_id': 'the same, of one key',
  'usage_days by account_id': 'outcomes, once each for a day of the range and for a key',
  'usage_days by account_id, key_id': 'the same, of one key',
};

/** Pages that no other page links to for a signed-in person. */
const unlinked = [
  ...['/', '/dashboard/accounts', '/dashboard/account/new-password', '/dashboard/notices/bell'],
  ...['/dashboard/sign-in', '/dashboard/forgot-password', '/dashboard/sign-in-link'],
  ...['/dashboard/second-factor', '/dashboard/confirm'],
  ...['/dashboard/unsubscribe?token=none', '/dashboard/other-name?domain=birds.test'],
];

/** The route table reads all of it in the background when something has changed. */
const inBackground = new Set(['certificates', 'edge_revision', 'own_names', 'routes']);

const tracer = new RecordingTracer();
let dashboard: RunningDashboard;
let visited: readonly string[];
let repeatedIds: readonly string[];
let reads: readonly string[];
beforeAll(async () => {
  const settings = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'store@zoo.example' };
  dashboard = await startDashboard({ tracer, settings });
  const owner = await dashboard.newOwner();
  await fill(dashboard, owner, 'birds.test');
  const { accountId } = owner;
  const { secret } = await dashboard.container
    .get(AccessKey)
    .createApiKey({ accountId, name: 'A' });
  tracer.steps.length = 0;
  const { pages } = await crawl(owner.visitor);
  const walked = [...pages.keys()];
  repeatedIds = [...pages].flatMap(([path, { text }]) => {
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
    return ids.filter((id, at) => ids.indexOf(id) < at).map((id) => `${path} #${id}`);
  });
  const others = [...unlinked, await dashboard.linkFor(owner.email), await sharedPage(owner)];
  for (const path of others) await owner.visitor.get(path);
  visited = [...walked, ...others];
  for (const path of ['pets', 'pets?status=sold', 'store/orders', 'pets/1']) {
    const headers = { Authorization: `Bearer ${secret}` };
    expect((await fetch(`${dashboard.origin}/v1/${path}`, { headers })).status).toBe(200);
  }
  const texts = tracer.steps.map(({ facts }) => facts['db.query.text'] ?? '');
  reads = [...new Set(texts)].filter((text) => text.startsWith('select'));
});
afterAll(() => dashboard.close());

const sharedPage = async ({ accountId }: Owner): Promise<string> => {
  const [project] = await dashboard.container.get(SitesKey).listProjects(accountId);
  const domains = dashboard.container.get(DomainsKey);
  const all = await domains.listDomains(project!.id);
  const live = all.find(({ state }) => state === 'live')!;
  return sharedPath((await domains.makeShare(live)).secret);
};

test('these tests cover every page', () => {
  const pages = dashboard.routes.filter(({ method }) => method === 'GET').map(({ path }) => path);
  const seen = new Set(visited.map((path) => routeOf(dashboard.routes, 'GET', path)));
  const help = '/dashboard/help/:page';
  expect(pages.filter((path) => !seen.has(path) && path !== help)).toEqual([]);
});

test('each id is on a page once, so that each label leads to its field', () => {
  expect(repeatedIds).toEqual([]);
});

/** The first table that a statement reads, and the columns that it restricts to one or several values. */
const lookUpOf = (text: string) => {
  const [, table = ''] = /from "(\w+)"/.exec(text) ?? [];
  const [, conditions = ''] = / where (.*)/.exec(text) ?? [];
  const columns = [...conditions.matchAll(/"(\w+)" (?:= \+?\?|in \()/g)].map(([, name]) => name!);
  return { table, columns };
};

const joinsOnlyKeys = (text: string): boolean =>
  [...text.matchAll(/ join "(\w+)" on "(\w+)"\."(\w+)"/g)].every(
    ([, joined, table, column]) => joined === table && column === 'id',
  );

const isFewRows = (text: string): boolean => {
  if (/ limit \+?\?$/.test(text)) return true;
  const { table, columns } = lookUpOf(text);
  const isByKey = uniqueColumns(dashboard.databaseUrl, table).some((unique) =>
    unique.every((column) => columns.includes(column)),
  );
  return isByKey && joinsOnlyKeys(text);
};

test('every list on a page and in the API has a limit, or is known to be bounded otherwise', () => {
  const others = reads
    .filter((text) => !isFewRows(text))
    .map(lookUpOf)
    .filter(({ table, columns }) => columns.length > 0 || !inBackground.has(table));
  const named = others.map(({ table, columns }) => `${table} by ${columns.join(', ')}`);
  expect([...new Set(named)].sort()).toEqual(Object.keys(bounded).sort());
});
