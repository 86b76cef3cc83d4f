import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AccessKey, DomainsKey, QueuesKey, SitesKey } from '../../src/app/keys.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import { textOf } from '../support/dashboard/markup.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';

const deletedPage = '/dashboard/account/deleted';
const day = 24 * 60 * 60_000;
const start = new Date('2026-03-01T10:00:00Z');

let dashboard: RunningDashboard;
let owner: Owner;
let project: Project;
beforeAll(async () => {
  dashboard = await startDashboard({ now: start });
});
afterAll(() => dashboard.close());
beforeEach(async () => {
  dashboard.clock.set(start);
  owner = await dashboard.newOwner({ name: 'Happy Paws' });
  const sites = dashboard.container.get(SitesKey);
  project = await sites.startProject(owner.accountId, 'Birds');
  await deployEntries(dashboard.container, project, entry('index.html', 'x'.repeat(10)));
});

const pageOf = ({ slug }: Pick<Project, 'slug'>) => `/dashboard/projects/${slug}`;
const settingsOf = (one: Pick<Project, 'slug'>) => `${pageOf(one)}/settings`;
const read = async (path: string, { visitor } = owner) => textOf((await visitor.get(path)).text);
const follow = async ({ location = '' }: { readonly location: string | undefined }) =>
  textOf((await owner.visitor.get(location)).text);
const once = 'once_once_once';
const deleteProject = (confirmed = project.slug) =>
  owner.visitor.post(`${settingsOf(project)}/delete`, { confirmed, once });
const restoreProject = ({ visitor } = owner) =>
  visitor.post(`${deletedPage}/${project.slug}/restore`, { once });
const deleteAccount = (confirmed = 'Happy Paws') =>
  owner.visitor.post('/dashboard/account/delete', { confirmed });

test('a renamed project keeps its address unless another one is requested', async () => {
  const renamed = await owner.visitor.post(`${settingsOf(project)}/name`, { name: 'Fish' });
  expect(renamed.location).toMatch(`${settingsOf(project)}?done=`);
  expect(await follow(renamed)).toContain('The project is renamed.');
  const slug = `${project.slug}-new`;
  const moved = await owner.visitor.post(`${settingsOf(project)}/address`, { slug });
  expect(moved.location).toMatch(`${settingsOf({ slug })}?done=`);
  expect(await follow(moved)).toContain('The old one redirects to it for 90 days.');
  expect(await read(pageOf(project))).toContain('Fish');
});

test.each([
  ['birds--7', 'single hyphens'],
  ['www', 'is reserved'],
  ['', 'Enter an address.'],
])('an address "%s" is refused beside its field', async (slug, why) => {
  const refused = await owner.visitor.post(`${settingsOf(project)}/address`, { slug });
  expect(refused.status).toBe(422);
  expect(textOf(refused.text)).toContain(why);
});

test('a project page lists what will be deleted with it, and the project is deleted only after its address was typed', async () => {
  const page = await read(settingsOf(project));
  expect(page).toContain('It has no custom domains.');
  expect(page).toContain('1 deploy with 10 B of files goes with it.');
  const refused = await deleteProject('another');
  expect(refused.status).toBe(422);
  expect(textOf(refused.text)).toContain(`That is not ${project.slug}.`);
  expect((await owner.visitor.get(pageOf(project))).status).toBe(200);
});

test('a deleted project is hidden, and can be restored from the page of deleted projects', async () => {
  const host = `www.${project.slug}.test`;
  await dashboard.container.get(DomainsKey).addDomain(project, host);
  const searched = () => read(`/dashboard/search?q=${host}`);
  expect(await searched()).toContain('added');
  const deleted = await deleteProject();
  expect(deleted.location).toMatch(`${deletedPage}?done=`);
  const page = await follow(deleted);
  expect(page).toContain('You can restore it for 7 days.');
  expect(page).toContain(project.slug);
  expect((await owner.visitor.get(pageOf(project))).status).toBe(404);
  expect(await read('/dashboard')).not.toContain(project.slug);
  expect(await searched()).toContain('Nothing found');
  const other = await dashboard.newOwner();
  const stolen = await restoreProject(other);
  expect(stolen.status).toBe(404);
  const restored = await restoreProject();
  expect(await follow(restored)).toContain('The project is restored.');
  expect((await owner.visitor.get(pageOf(project))).status).toBe(200);
});

test('a project is not restored after 7 days, or when the plan has no place for it', async () => {
  const sites = dashboard.container.get(SitesKey);
  await deleteProject();
  await dashboard.container.get(AccessKey).setPlan(owner.accountId, 'free');
  for (const name of ['One', 'Two', 'Three']) await sites.startProject(owner.accountId, name);
  expect(textOf((await restoreProject()).text)).toContain('room for 3 projects');
  await dashboard.container.get(AccessKey).setPlan(owner.accountId, 'pro');
  dashboard.clock.advance(7 * day);
  owner = { ...owner, visitor: await dashboard.signIn(owner.email) };
  expect(textOf((await restoreProject()).text)).toContain('was deleted more than 7 days ago');
});

test('an account can be renamed', async () => {
  const renamed = await owner.visitor.post('/dashboard/account/name', { name: 'Sad Paws' });
  expect(await follow(renamed)).toContain('The account is renamed.');
  expect(await read('/dashboard')).toContain('Sad Paws');
});

test('deleting an account ends all sessions, and an owner who signs in can restore it', async () => {
  expect(textOf((await deleteAccount('Happy Claws')).text)).toContain('That is not Happy Paws.');
  const deleted = await deleteAccount();
  expect(deleted.location).toMatch(`/dashboard/sign-in?next=${deletedPage}&done=deleted.`);
  expect(await follow(deleted)).toContain('The account is deleted, and everybody is signed out.');
  const stranger = dashboard.stranger();
  expect((await stranger.get(deleted.location ?? '')).text).not.toContain('is deleted');
  expect((await owner.visitor.get('/dashboard')).location).toBe('/dashboard/sign-in');
  const visitor = await dashboard.signIn(owner.email);
  for (const path of ['/dashboard', pageOf(project), '/dashboard/keys', '/dashboard/account'])
    expect((await visitor.get(path)).location).toBe(deletedPage);
  const late = await visitor.post(`${settingsOf(project)}/name`, { name: 'Late' });
  expect(late.location).toBe(deletedPage);
  const page = textOf((await visitor.get(deletedPage)).text);
  expect(page).toContain('Happy Paws is deleted');
  expect(page).toContain('It can be restored until 8 Mar 2026');
  expect(page).toContain('Restore account');
  const restored = await visitor.post('/dashboard/account/restore');
  expect(restored.location).toMatch(`${deletedPage}?done=`);
  expect((await visitor.get(pageOf(project))).status).toBe(200);
  expect(await read(pageOf(project), { ...owner, visitor })).toContain('Birds');
});

test('a person who is not an owner cannot restore the account, and is told that an owner can', async () => {
  const access = dashboard.container.get(AccessKey);
  const email = `keeper-${owner.accountId}@zoo.example`;
  const { secret } = await access.inviteAnybody(owner.accountId, email, 'editor');
  const keeper = dashboard.stranger();
  await keeper.get(`/dashboard/sign-in/${secret}`);
  expect(await read(settingsOf(project), { ...owner, visitor: keeper })).not.toContain('Delete');
  expect((await keeper.post(`${settingsOf(project)}/delete`, { confirmed: 'x' })).status).toBe(403);
  await deleteAccount();
  const visitor = await dashboard.signIn(email);
  expect(await read(deletedPage, { ...owner, visitor })).toContain('Only an owner can restore it.');
  expect((await visitor.post('/dashboard/account/restore')).status).toBe(403);
});

test('every subscriber to a deletion succeeds at the first attempt', async () => {
  await deleteProject();
  await deleteAccount();
  const { events } = dashboard.container.get(QueuesKey);
  await events.run();
  const parked = dashboard.log.filter((line) => line.includes('not delivered'));
  expect(parked).toEqual([]);
});
