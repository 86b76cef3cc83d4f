import { beforeEach, expect } from '@jest/globals';
import {
  deleteProject,
  renameProject,
  restoreProject,
} from '../../../src/sites/domain/project-life.ts';
import { isPreview } from '../../../src/domains/domain/redirects/redirects.ts';
import { startDeploy } from '../../../src/sites/domain/site.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { deleteAccount, restoreAccount } from '../../../src/access/domain/account.ts';
import { endDomains, followProject } from '../../../src/domains/use-cases/follow-project.ts';
import { later, newAccount, now, takeEvents } from '../../support/accounts.ts';
import {
  addTo,
  deployTo,
  liveDomain,
  routesIn,
  servedProject,
} from '../../support/domains/custom-domains.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { begun, newProject } from '../../support/sites/sites.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import { SettableClock } from '../../support/settable-clock.ts';

const namesIn = (routes: ReadonlyMap<string, unknown>) =>
  [...routes.keys()].filter((name) => !isPreview(name)).sort();

describeStores('deleted projects', (stores) => {
  let project: Project;
  beforeEach(async () => {
    project = await servedProject(stores);
  });

  const remove = (one = project, at = now) =>
    stores.projects.change(one, (site) => deleteProject(site, at));
  const restore = (one = project, at = now) =>
    stores.projects.restore(one, (site) => restoreProject(site, at));
  const move = (one: Project, slug: string) =>
    stores.projects.change(one, (site) =>
      renameProject(site, { name: site.project.name, slug }, now),
    );
  const follow = (one = project) =>
    followProject({ ...stores, clock: new SettableClock(now) })(one.id);
  const slugIn = (one = project) => stores.projects.find(one.slug);

  testOnBoth(
    'a deleted project is out of service and hidden at once, and is restored unchanged',
    async () => {
      const { host } = await liveDomain(stores, project);
      const before = await routesIn(stores, project);
      const site = await slugIn();
      expect(namesIn(before)).toEqual([host, project.slug].sort());
      await remove();
      expect([await slugIn(), await stores.projects.list(project.accountId)]).toEqual([
        undefined,
        [],
      ]);
      expect(await routesIn(stores, project)).toEqual(new Map());
      for (const changing of [
        stores.projects.change(project, refuse),
        stores.projects.changeKept(project, refuse),
      ]) {
        await expect(changing).rejects.toHaveProperty('code', 'project_not_found');
      }
      await expect(addTo(stores, project)).rejects.toHaveProperty('code', 'project_not_found');
      expect(await stores.projects.listAll(project.accountId)).toEqual([
        { ...project, deletedAt: now },
      ]);
      await restore();
      expect(await slugIn()).toEqual(site);
      expect(await routesIn(stores, project)).toEqual(before);
    },
  );

  testOnBoth(
    'its domains cause no work meanwhile, and are checked before they are served again',
    async () => {
      const { id, host } = await liveDomain(stores, project);
      await remove();
      await follow();
      expect(await stores.domains.get(id)).toMatchObject({ state: 'live', pause: 'deleted' });
      const far = later(400 * 86_400_000);
      const claimed = await stores.dueDomains.claim(far, far, { limit: 1000 });
      expect(claimed.map((due) => due.id)).not.toContain(id);
      await restore();
      await follow();
      expect(await stores.domains.get(id)).toMatchObject({ state: 'live', pause: 'restored' });
      expect(namesIn(await routesIn(stores, project))).toEqual([project.slug]);
      const due = await stores.dueDomains.claim(now, now, { limit: 1000 });
      expect(due.map((one) => one.domain.host)).toContain(host);
    },
  );

  testOnBoth('the projects of a deleted account are out of service in the same way', async () => {
    const { id } = await liveDomain(stores, project);
    const { accountId } = project;
    await stores.accounts.change(accountId, (account) => deleteAccount(account, now));
    expect([await slugIn(), await stores.projects.list(accountId)]).toEqual([undefined, []]);
    expect(await routesIn(stores, project)).toEqual(new Map());
    await expect(addTo(stores, project)).rejects.toHaveProperty('code', 'project_not_found');
    await follow();
    expect(await routesIn(stores, project)).toEqual(new Map());
    expect(await stores.domains.get(id)).toMatchObject({ pause: 'deleted' });
    expect(await stores.projects.listAll(accountId)).toEqual([project]);
    await stores.accounts.change(accountId, (account) => restoreAccount(account, now));
    await follow();
    expect(namesIn(await routesIn(stores, project))).toEqual([project.slug]);
    expect(await stores.domains.get(id)).toMatchObject({ pause: 'restored' });
  });

  test('a deleted project does not count towards the limit, and can be restored only within the limit', async () => {
    await newProject(stores, project.accountId);
    await remove();
    const counted: number[] = [];
    const adding = stores.projects.add(project.accountId, (current) => {
      counted.push(current);
      return refuse();
    });
    await expect(adding).rejects.toBe(refusal);
    const restoring = stores.projects.restore(project, (_, current) => {
      counted.push(current);
      return refuse();
    });
    await expect(restoring).rejects.toBe(refusal);
    expect(counted).toEqual([1, 1]);
  });

  testOnBoth('after removal, nothing of a project is stored except its events', async () => {
    const { id, host } = await liveDomain(stores, project);
    await move(project, `${project.slug}-2`);
    const deleted = await remove();
    await follow();
    expect(await stores.projects.deletedBefore(later(-1), 1000)).toEqual([]);
    expect(await stores.projects.deletedBefore(now, 1000)).toContainEqual(deleted.project);
    await endDomains({ ...stores, clock: new SettableClock(now) })(project.id);
    await takeEvents(stores);
    const end = () =>
      stores.projects.end(project.id, now, ({ deploys }) =>
        deploys.map(({ id: deployId }) => ({
          type: 'deploy_discarded',
          deployId,
          occurredAt: now,
          accountId: project.accountId,
          projectId: project.id,
        })),
      );
    await end();
    await end();
    expect((await takeEvents(stores)).map(({ type }) => type)).toEqual(['deploy_discarded']);
    expect(await stores.domains.get(id)).toBeUndefined();
    expect(await stores.timeline.list(id, 10)).toEqual([]);
    expect(await stores.certificates.find(host)).toBeUndefined();
    expect(await stores.projects.listAll(project.accountId)).toEqual([]);
    for (const slug of [project.slug, `${project.slug}-2`])
      expect(await stores.projects.accountOf(slug)).toBeUndefined();
  });

  testOnBoth(
    'when a domain is added while its project is deleted, it is refused or goes out of service',
    async () => {
      const add = () => addTo(stores, project);
      await Promise.allSettled([add(), add(), remove(), add(), add()]);
      await follow();
      for (const domain of await stores.domains.list(project.id))
        expect(domain.pause).toBe('deleted');
      expect(await routesIn(stores, project)).toEqual(new Map());
    },
  );

  testOnBoth(
    'when a restore and the removal happen at the same moment, one succeeds completely',
    async () => {
      await deployTo(stores, project);
      await remove();
      const at = later(8 * 86_400_000);
      const [restored] = await Promise.allSettled([
        restore(project, at),
        stores.projects.end(project.id, at, () => []),
      ]);
      expect(restored.status).toBe('rejected');
      expect(await stores.projects.accountOf(project.slug)).toBeUndefined();
    },
  );

  test('a deploy that begins while its project is deleted leaves no upload', async () => {
    await Promise.allSettled([
      stores.projects.change(project, (site) => startDeploy(site, begun('dep_late'), now)),
      remove(),
    ]);
    expect((await restore()).deploys.map(({ state }) => state)).toEqual(['succeeded']);
  });

  testOnBoth(
    'a former address redirects to the new one, names the project, and cannot be taken by others',
    async () => {
      const [old, slug] = [project.slug, `${project.slug}-new`];
      const { project: moved } = await move(project, slug);
      expect(moved).toEqual({ ...project, slug });
      const routes = await routesIn(stores, project);
      expect(routes.get(old)).toEqual({
        name: old,
        projectId: project.id,
        kind: 'redirect',
        to: slug,
        status: 308,
      });
      expect(routes.get(slug)).toMatchObject({ kind: 'site' });
      expect(await slugIn()).toEqual(await slugIn(moved));
      expect((await deployTo(stores, project)).length).toBeGreaterThan(0);
      expect(await stores.projects.accountOf(old)).toBe(project.accountId);
      const other = await newAccount(stores);
      for (const taken of [old, slug]) {
        await stores.together(async () => {
          const adding = newProject(stores, other, { slug: taken });
          await expect(adding).rejects.toHaveProperty('code', 'slug_taken');
        });
        expect(await stores.projects.list(other)).toEqual([]);
        const rival = await servedProject(stores);
        await expect(move(rival, taken)).rejects.toHaveProperty('code', 'slug_taken');
      }
    },
  );

  test('a project may return to a former address', async () => {
    const { project: moved } = await move(project, `${project.slug}-new`);
    expect((await move(moved, project.slug)).project).toEqual(project);
    const routes = await routesIn(stores, project);
    expect(routes.get(moved.slug)).toMatchObject({ kind: 'redirect', to: project.slug });
  });

  test('a former address can be taken after its time', async () => {
    const { project: moved } = await move(project, `${project.slug}-new`);
    const ends = later(90 * 86_400_000);
    expect(await stores.projects.freeSlugs(later(90 * 86_400_000 - 1), 1000)).toBe(0);
    expect(await stores.projects.freeSlugs(ends, 1000)).toBeGreaterThan(0);
    expect(namesIn(await routesIn(stores, moved))).toEqual([moved.slug]);
    expect((await newProject(stores, project.accountId, { slug: project.slug })).slug).toBe(
      project.slug,
    );
  });

  testOnBoth(
    'when one project leaves an address while another wants it, neither gets it twice',
    async () => {
      const accountId = await newAccount(stores);
      const slug = `${project.slug}-free`;
      await Promise.allSettled([
        move(project, slug),
        newProject(stores, accountId, { slug: project.slug }),
        newProject(stores, accountId, { slug }),
      ]);
      const owners = [
        ...(await routesIn(stores, project)).keys(),
        ...(await stores.projects.list(accountId)).map((one) => one.slug),
      ];
      expect(new Set(owners).size).toBe(owners.length);
    },
  );
});
