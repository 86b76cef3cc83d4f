import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { domains, type Domains } from '../../../src/domains/domains.ts';
import { forgetOwnNames } from '../../../src/domains/use-cases/secure-sites.ts';
import { unknownOwnName } from '../../../src/domains/domain/own/own-name.ts';
import { deleteProject, restoreProject } from '../../../src/sites/domain/project-life.ts';
import { endProjectsOf } from '../../../src/sites/use-cases/projects.ts';
import { later } from '../../support/accounts.ts';
import { servedProject, routesIn } from '../../support/domains/custom-domains.ts';
import {
  around,
  closeLabs,
  domainLab,
  host,
  ownershipOf,
  type DomainLab,
} from '../../support/domains/domain-lab.ts';
import { day, hour } from '../../support/domains/known-domains.ts';

afterEach(closeLabs);

let lab: DomainLab;
let face: Domains;
beforeEach(async () => {
  lab = await domainLab();
  face = domains(lab.ports);
});

const takeOut = () => {
  const now = lab.clock.now();
  return lab.stores.projects.change(lab.project, (site) => deleteProject(site, now));
};
const remove = async () => {
  await takeOut();
  await face.followProject(lab.project.id);
};
const restore = async () => {
  const now = lab.clock.now();
  await lab.stores.projects.restore(lab.project, (site) => restoreProject(site, now));
  await face.followProject(lab.project.id);
};
const isServed = async (name = host) => (await routesIn(lab.stores, lab.project)).has(name);

describe('while a project is deleted', () => {
  test('an order under way at the authority stops, and continues once the project is restored', async () => {
    const verified = await lab.addVerified();
    const authority = around(lab.authority, 'order', { after: remove });
    await lab.tendDue({ authority });
    expect(await lab.current(verified)).toMatchObject({ state: 'verified', pause: 'deleted' });
    const asked = lab.authority.log.length;
    lab.clock.advance(hour);
    await lab.tendDue();
    expect(lab.authority.log.length).toBe(asked);
    await restore();
    await lab.tendDue();
    await lab.tendDue();
    expect(await lab.current(verified)).toMatchObject({ state: 'live', pause: undefined });
    expect(await isServed()).toBe(true);
  });

  test('links to the records of its domains stop working', async () => {
    const domain = await lab.add();
    const { secret } = await face.makeShare(domain);
    await takeOut();
    await expect(face.showShared(secret)).rejects.toHaveProperty('code', 'share_unknown');
    await face.followProject(lab.project.id);
    await expect(face.showShared(secret)).rejects.toHaveProperty('code', 'share_unknown');
    await restore();
    expect(await face.showShared(secret)).toMatchObject({ domain: { host } });
  });

  test('another account that proves the name takes it, and a restore does not return it', async () => {
    const live = await lab.addLive();
    await remove();
    const rival = await lab.add(await servedProject(lab.stores));
    lab.point(rival);
    expect((await lab.verify(rival)).state).toBe('added');
    lab.clock.advance(hour);
    lab.point(rival, ownershipOf(rival));
    expect((await lab.verify(rival)).state).toBe('live');
    await restore();
    await lab.tendDue();
    expect(await lab.current(live)).toMatchObject({ state: 'removed', reason: 'contested' });
    expect(await isServed()).toBe(false);
  });
});

test('the domains of a project are removed when the project ends, with orders and certificates', async () => {
  const live = await lab.addLive();
  const verified = await lab.add(lab.project, 'www.example.com');
  lab.point(verified);
  await lab.verify(verified);
  await remove();
  await face.endDomains(lab.project.id);
  for (const one of [live, verified])
    expect(await lab.current(one)).toMatchObject({ state: 'removed', reason: 'project_deleted' });
  expect(await lab.ports.certificates.find(host)).toBeUndefined();
  await face.endDomains(lab.project.id);
  const end = endProjectsOf({ projects: lab.stores.projects, clock: lab.clock });
  const ending = { endDomains: face.endDomains, isStopping: () => false };
  expect(await end(lab.project.accountId, ending)).toBe(1);
  expect(await lab.ports.domains.get(live.id)).toBeUndefined();
  await face.adoptPrimary(lab.project.id);
  await face.followProject(lab.project.id);
});

test("the certificate of a project's own host is kept while the project may be restored, and deleted afterwards", async () => {
  const name = `${lab.project.slug}.sites.test`;
  await lab.ports.ownNames.change(name, () => ({ name: unknownOwnName(name) }));
  await remove();
  lab.clock.advance(30 * day);
  expect(await forgetOwnNames(lab.ports)()).toBe(0);
  await lab.stores.projects.end(lab.project.id, later(0), () => []);
  expect(await forgetOwnNames(lab.ports)()).toBe(1);
  expect(await lab.ports.ownNames.all()).toEqual([]);
});
