import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { UuidIds } from '../../src/adapters/system/uuid-ids.ts';
import { DomainsKey, SitesKey } from '../../src/app/keys.ts';
import type { Project } from '../../src/sites/domain/project.ts';
import { AuthorityLedger } from '../../src/domains/certificate-ports.ts';
import type { Domains } from '../../src/domains/domains.ts';
import type { Sites } from '../../src/sites/sites.ts';
import { pointAtUs } from '../support/dashboard/domains.ts';
import { textOf } from '../support/dashboard/markup.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { entry } from '../support/sites/site-source.ts';

let dashboard: RunningDashboard;
let domains: Domains;
let sites: Sites;
beforeAll(async () => {
  dashboard = await startDashboard();
  domains = dashboard.container.get(DomainsKey);
  sites = dashboard.container.get(SitesKey);
});
afterAll(() => dashboard.close());

const ids = new UuidIds();
const start = ({ visitor }: Owner, name: string) =>
  visitor.post('/dashboard', { name, once: ids.next('form') });
const deploy = (project: Project, bytes = 10) =>
  deployEntries(dashboard.container, project, entry('index.html', 'x'.repeat(bytes)));
const pageOf = ({ slug }: Project) => `/dashboard/projects/${slug}`;
const read = async ({ visitor }: Owner, path: string) => textOf((await visitor.get(path)).text);

test('a fourth project on the plan Free is refused with the limit and the plan', async () => {
  const owner = await dashboard.newOwner({ plan: 'free' });
  for (const name of ['One', 'Two', 'Three']) expect((await start(owner, name)).status).toBe(303);
  const refused = await start(owner, 'Four');
  expect(refused.status).toBe(422);
  expect(textOf(refused.text)).toContain('The plan Free has room for 3 projects');
  expect(await sites.listProjects(owner.accountId)).toHaveLength(3);
  expect(await read(owner, '/dashboard/account')).toMatch(/Projects\s+3 of 3/);
});

test('a project with a reserved name gets a numbered address, and the page says why', async () => {
  const owner = await dashboard.newOwner();
  const { location = '' } = await start(owner, 'App');
  expect(location).toContain('/dashboard/projects/app-2');
  expect(await read(owner, location)).toContain('the name alone is reserved');
});

test('an owner deletes a deploy that is not served, and sees what the account keeps', async () => {
  const owner = await dashboard.newOwner({ plan: 'free' });
  const project = await sites.startProject(owner.accountId, 'Kept');
  for (const bytes of [1024, 2048]) await deploy(project, bytes);
  expect(await read(owner, pageOf(project))).toContain('keep 3 KiB of 1 GiB');
  expect(await read(owner, '/dashboard/account')).toMatch(/Stored files\s+3 KiB of 1 GiB/);
  const remove = (number: number, { visitor } = owner) =>
    visitor.post(`${pageOf(project)}/deploys/${String(number)}/delete`);
  const served = await remove(2);
  expect(served.status).toBe(422);
  expect(textOf(served.text)).toContain('Deploy 2 is served');
  expect((await remove(1, await dashboard.newOwner())).status).toBe(404);
  const { location = '' } = await remove(1);
  const text = await read(owner, location);
  expect(text).toContain('The deploy was deleted.');
  expect(text).toContain('keep 2 KiB of 1 GiB');
  expect((await remove(1)).status).toBe(404);
});

test('the pages of a domain and of a project say which limit delays their certificates', async () => {
  const owner = await dashboard.newOwner();
  const project = await sites.startProject(owner.accountId, 'Held up');
  await deploy(project);
  const { accountId } = owner;
  const ledger = dashboard.container.get(AuthorityLedger);
  const occurredAt = dashboard.clock.now();
  const name = {
    accountId,
    host: 'x.test',
    authority: 'local',
    registrableDomain: 'x.test',
    isManual: false,
    orderKey: 'order',
  };
  for (let n = 0; n < 10; n++)
    await ledger.settle({ entered: [{ ...name, kind: 'order', occurredAt }] });
  const added = await domains.addDomain(project, 'held-up.birds.test');
  pointAtUs(dashboard, added);
  await domains.tendDomain(await domains.verifyDomain(added));

  const until = new Date(occurredAt.getTime() + 3_600_000).toISOString();
  const clock = `${until.slice(0, 19).replace('T', ' ')} UTC`;
  const limit = '10 new certificates for one account in an hour';
  const ofDomain = await read(owner, `${pageOf(project)}/settings/domains/${added.host}`);
  expect(ofDomain).toContain(`The certificate waits, because a limit is reached: ${limit}.`);
  expect(ofDomain).toContain(clock);
  expect(ofDomain).toContain(`Limit reached: ${limit}.`);
  const ofProject = await read(owner, pageOf(project));
  expect(ofProject).toContain(`has no certificate yet, because a limit is reached: ${limit}.`);
  expect(ofProject).toContain(clock);
});
