import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mayDo, operations, type Role, roles } from '../../src/access/domain/role.ts';
import { AccessKey, DomainsKey, SitesKey } from '../../src/app/keys.ts';
import { crawl, routeOf } from '../support/dashboard/crawl.ts';
import { fill } from '../support/dashboard/filling.ts';
import { textOf } from '../support/dashboard/markup.ts';
import { type RunningDashboard, startDashboard } from '../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';

let dashboard: RunningDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard.close());

const newPerson = async (role: Role) => {
  const { accountId } = await dashboard.newOwner();
  const email = `${role}@${accountId.replace('_', '-')}.example`;
  await dashboard.container.get(AccessKey).invite(accountId, email, role);
  dashboard.clock.advance(60_000);
  return { accountId, email, visitor: await dashboard.signIn(email) };
};

/** Forms without valid content: they are refused because of their role or their subject. */
const sentTo = (pattern: string): string => pattern.replaceAll(/:\w+/g, 'nothing');

test('each form of the dashboard is open to exactly the roles in the table, and every operation has a form', async () => {
  const forms = dashboard.routes.filter(({ operation }) => operation !== undefined);
  const wrong = [];
  for (const role of roles) {
    let { visitor } = await newPerson(role);
    for (const { path, operation } of forms) {
      dashboard.clock.advance(1000);
      const { status, location } = await visitor.post(sentTo(path));
      const isRefused = status === 403;
      if (isRefused === mayDo(role, operation!)) wrong.push(`${role} ${path} ${status}`);
      if (location?.startsWith('/dashboard/sign-in')) ({ visitor } = await newPerson(role));
    }
    expect((await visitor.get('/dashboard')).status).toBe(200);
  }
  expect(wrong).toEqual([]);
  const known = new Set(forms.map(({ operation }) => operation));
  expect(Object.keys(operations).filter((one) => !known.has(one as never))).toEqual([]);
});

test('a person without the role is told who may do it', async () => {
  const { visitor } = await newPerson('viewer');
  const { status, text } = await visitor.post('/dashboard', { name: 'Shop' });
  expect(status).toBe(403);
  expect(text).toContain('You are a viewer of this account. Only an editor may create a project.');
});

test('a viewer is told who can fill an empty page, and gets no button to do it', async () => {
  const { accountId, visitor } = await newPerson('viewer');
  const read = async (path: string) => textOf((await visitor.get(path)).text);
  expect(await read('/dashboard')).toContain('An owner or an editor can create one.');
  expect(await read('/dashboard')).not.toContain('First steps');
  expect(await read('/dashboard/orders')).not.toContain('Choose an animal to sell');
  const { container } = dashboard;
  const project = await container.get(SitesKey).startProject(accountId, 'Birds');
  const redirects = `/dashboard/projects/${project.slug}/settings/redirects`;
  expect(await read(redirects)).not.toContain('Add a domain');
  await deployEntries(container, project, entry('index.html'));
  await container.get(DomainsKey).addDomain(project, 'birds.test');
  expect(await read(redirects)).toContain('An owner or an editor can add one.');
});

/** Sends a form as the signed-in person, or as nobody. */
const withoutOperation = [
  '/dashboard/confirm',
  '/dashboard/second-factor',
  '/dashboard/sign-in',
  '/dashboard/sign-out',
  '/dashboard/sign-in/:token',
  '/dashboard/unsubscribe',
];

test('every route that changes something names its operation', () => {
  const posts = dashboard.routes.filter(({ method }) => method === 'POST');
  const others = posts.filter(({ operation }) => operation === undefined);
  expect(others.map(({ path }) => path).sort()).toEqual(withoutOperation.toSorted());
});

test('a changed role takes effect with the next request', async () => {
  const { accountId, email, visitor } = await newPerson('viewer');
  const access = dashboard.container.get(AccessKey);
  const person = (await access.listPeople(accountId)).find((one) => one.email === email)!;
  await access.giveRole(accountId, person.id, 'editor');
  expect((await visitor.post('/dashboard', { name: 'Shop', once: 'form_12345678' })).status).toBe(
    303,
  );
});

test.each(roles)('no page shows %s a control that the role may not use', async (role) => {
  const owner = await dashboard.newOwner();
  await fill(dashboard, owner, `${role}.test`);
  const email = `${role}@filled.example`;
  await dashboard.container.get(AccessKey).invite(owner.accountId, email, role);
  dashboard.clock.advance(60_000);
  // Addresses can be shared, also those that no page links to for this role.
  const all = await crawl(owner.visitor);
  const { forms, pages } = await crawl(await dashboard.signIn(email), all.pages.keys());
  const operationOf = new Map(dashboard.routes.map(({ path, operation }) => [path, operation]));
  const posts = forms.filter(({ method }) => method === 'POST');
  const forbidden = posts.filter(({ action }) => {
    const operation = operationOf.get(routeOf(dashboard.routes, 'POST', action) ?? '');
    return operation !== undefined && !mayDo(role, operation);
  });
  expect(forbidden.map(({ page, action }) => `${page}: ${action}`)).toEqual([]);
  expect(pages.size).toBeGreaterThan(10);
});
