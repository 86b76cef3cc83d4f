import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, describe, jest } from '@jest/globals';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { isPreview, type Route } from '../../../src/domains/domain/redirects/redirects.ts';
import { deleteDeploy, rollBack, startDeploy } from '../../../src/sites/domain/site.ts';
import type { EdgeRecords } from '../../../src/domains/ports.ts';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import { KyselyEdgeRecords } from '../../../src/adapters/kysely/sites/kysely-edge-records.ts';
import { sealedColumns } from '../../../src/adapters/kysely/sealed-values.ts';
import { later, newAccount, now } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refuse } from '../../support/refusal.ts';
import { begun, certificateFor, newProject, publish } from '../../support/sites/sites.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import { testSealer } from '../../support/stores.ts';
import { databaseKinds, openDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';

const ids = new UuidIds();
const nothing = { routes: [], removedRoutes: [], certificates: [], removedCertificates: [] };
const newHost = () => `${ids.next('www').replace('_', '-')}.shop.example`;

describeStores('records for the edges', (stores) => {
  const { edgeRecords } = stores;
  let project: Project;
  let known: bigint;
  beforeEach(async () => {
    project = await newProject(stores, await newAccount(stores));
    known = (await edgeRecords.changesSince(0n)).revision;
  });

  const deploy = async (to = project, through = stores.projects): Promise<string> => {
    const id = ids.next('dep');
    await through.change(to, (site) => publish(site, id));
    return id;
  };
  const routeTo = (deployId: string, name = project.slug): Route => {
    return { name, projectId: project.id, kind: 'site', deployId };
  };
  const redirectTo = (to: string, name: string, status = 308): Route => {
    return { name, projectId: project.id, kind: 'redirect', to, status };
  };
  const setRoute = async (name: string) => {
    await stores.edgeWriter.setRoute(routeTo('dep_1', name));
    return (await edgeRecords.changesSince(0n)).revision;
  };
  const sweep = async (before: Date): Promise<number> => {
    const routes = await stores.retention.sweep('routes', before);
    return routes + (await stores.retention.sweep('certificates', before));
  };
  /** Excludes the addresses of single deploys. */
  const changes = async (from = edgeRecords, since = known) => {
    const all = await from.changesSince(since);
    return { ...all, routes: all.routes.filter(({ name }) => !isPreview(name)) };
  };
  const namesSince = async (revision: bigint) =>
    (await changes(edgeRecords, revision)).routes.map(({ name }) => name);

  test('a site has a route once it serves its first deploy, and not before', async () => {
    await stores.projects.change(project, (site) => startDeploy(site, begun(ids.next('dep')), now));
    expect(await changes()).toEqual({ revision: known, ...nothing });
    expect(await edgeRecords.names()).not.toContain(project.slug);

    const route = routeTo(await deploy());
    const changed = await changes();
    expect(changed).toEqual({ ...nothing, revision: changed.revision, routes: [route] });
    expect(changed.revision).toBeGreaterThan(known);
    expect(await edgeRecords.names()).toContain(project.slug);
    expect((await changes(edgeRecords, 0n)).routes).toContainEqual(route);
  });

  test('a newer deploy and a rollback replace the route', async () => {
    const first = await deploy();
    const second = await deploy();
    const forward = await changes();
    expect(forward.routes).toEqual([routeTo(second)]);
    await stores.projects.change(project, (site) => rollBack(site, 1, now));
    const back = await changes(edgeRecords, forward.revision);
    expect(back.routes).toEqual([routeTo(first)]);
    expect((await namesSince(0n)).filter((name) => name === project.slug)).toHaveLength(1);
  });

  test('each deploy has a route of its own until it is deleted', async () => {
    const [first, second] = [await deploy(), await deploy()];
    const { routes, revision } = await edgeRecords.changesSince(known);
    const [one, two] = [`${project.slug}--1`, `${project.slug}--2`];
    expect(routes).toEqual(
      expect.arrayContaining([routeTo(first, one), routeTo(second, two), routeTo(second)]),
    );
    await stores.projects.change(project, (site) => deleteDeploy(site, 1, later(5000)));
    const gone = await edgeRecords.changesSince(revision);
    expect(gone).toEqual({ ...nothing, revision: gone.revision, removedRoutes: [one] });
    // An edge that was cut off meanwhile still learns of the change.
    await stores.retention.sweep('routes', later(4999));
    expect((await edgeRecords.changesSince(revision)).removedRoutes).toEqual([one]);
  });

  test('records that the edge already knows are not returned again, by this process or another', async () => {
    await deploy();
    const { revision } = await changes();
    for (const reader of [edgeRecords, stores.secondProcess.edgeRecords])
      expect(await changes(reader, revision)).toEqual({ revision, ...nothing });
  });

  test('a decision that throws or keeps the served deploy changes no record', async () => {
    await deploy();
    const { revision } = await changes();
    await expect(stores.projects.change(project, refuse)).rejects.toThrow();
    await stores.projects.change(project, (site) => rollBack(site, 1, now));
    expect(await changes()).toMatchObject({ revision });
  });

  test('a process sees the changes of other processes', async () => {
    const route = routeTo(await deploy(project, stores.secondProcess.projects));
    const certificate = certificateFor(newHost());
    await stores.secondProcess.edgeWriter.saveCertificate(certificate);
    const { routes, certificates } = await changes();
    expect(routes).toEqual([route]);
    const { privateKey, ...shown } = certificate;
    expect(certificates).toEqual([{ ...shown, privateKey: expect.any(Function) }]);
    expect(certificates[0]?.privateKey()).toBe(privateKey);
  });

  test('a name resolves to a site or redirect by its route, and to nothing once the route is removed', async () => {
    const name = newHost();
    const longest = `https://else.example/${'x'.repeat(1900)}`;
    for (const route of [
      routeTo('dep_1', name),
      redirectTo('shop.example', name),
      redirectTo(longest, name, 301),
      routeTo('dep_2', name),
      redirectTo('shop.example', name, 302),
    ]) {
      await stores.edgeWriter.setRoute(route);
      for (const reader of [edgeRecords, stores.secondProcess.edgeRecords])
        expect((await changes(reader)).routes).toEqual([route]);
    }
    await stores.edgeWriter.removeRoute(name, later(0));
    expect(await changes()).toMatchObject({ routes: [], removedRoutes: [name] });
    expect(await sweep(later(1))).toBe(1);
  });

  testOnBoth(
    'a removed route is reported to edges that may know it, and is returned again once it is set again',
    async () => {
      const name = newHost();
      const set = await setRoute(name);
      await stores.edgeWriter.removeRoute(name, later(0));
      const removed = await changes(edgeRecords, set);
      const { revision } = removed;
      expect(removed).toEqual({ ...nothing, revision, removedRoutes: [name] });
      expect(await changes(edgeRecords, revision)).toEqual({ revision, ...nothing });
      expect(await changes(edgeRecords, 0n)).toMatchObject({ removedRoutes: [] });
      expect(await namesSince(0n)).not.toContain(name);
      expect(await edgeRecords.names()).not.toContain(name);

      await setRoute(name);
      const back = { removedRoutes: [], routes: [routeTo('dep_1', name)] };
      expect(await changes(edgeRecords, revision)).toMatchObject(back);
      expect(await edgeRecords.names()).toContain(name);
    },
  );

  testOnBoth(
    'a removed certificate is reported to edges that may know it, and is returned again once it is saved again',
    async () => {
      const certificate = certificateFor(newHost());
      const { host } = certificate;
      await stores.edgeWriter.saveCertificate(certificate);
      const saved = (await changes()).revision;
      await stores.edgeWriter.removeCertificate(host, later(0));
      const removed = await changes(edgeRecords, saved);
      const { revision } = removed;
      expect(removed).toEqual({ ...nothing, revision, removedCertificates: [host] });
      const all = await changes(edgeRecords, 0n);
      expect(all.removedCertificates).toEqual([]);
      expect(all.certificates.map((one) => one.host)).not.toContain(host);

      await stores.edgeWriter.saveCertificate(certificate);
      const back = await changes(edgeRecords, revision);
      expect(back.removedCertificates).toEqual([]);
      expect(back.certificates.map((one) => one.host)).toEqual([host]);
    },
  );

  test('removing a missing or already removed record changes nothing for the edges', async () => {
    const name = newHost();
    await setRoute(name);
    await stores.edgeWriter.removeRoute(name, later(0));
    const { revision } = await changes();
    await stores.edgeWriter.removeRoute(name, later(1));
    await stores.edgeWriter.removeRoute(newHost(), later(1));
    await stores.edgeWriter.removeCertificate(newHost(), later(1));
    expect(await changes(edgeRecords, revision)).toMatchObject(nothing);
    expect(await sweep(later(1))).toBe(1);
  });

  testOnBoth(
    'a sweep deletes records that were removed before a given time, and none that are served',
    async () => {
      const [first, second, served] = [newHost(), newHost(), newHost()];
      for (const host of [first, second, served]) {
        await setRoute(host);
        await stores.edgeWriter.saveCertificate(certificateFor(host));
      }
      for (const [host, at] of [[first, later(1)] as const, [second, later(2)] as const]) {
        await stores.edgeWriter.removeRoute(host, at);
        await stores.edgeWriter.removeCertificate(host, at);
      }
      expect(await sweep(later(2))).toBe(2);
      for (const table of ['routes', 'certificates'])
        expect(await stores.retention.oldest(table)).toEqual(later(2));
      const { removedRoutes, removedCertificates } = await changes();
      expect([removedRoutes, removedCertificates]).toEqual([[second], [second]]);
      expect(await sweep(later(3))).toBe(2);
      expect(await sweep(later(3))).toBe(0);
      const left = await changes();
      expect(left.routes.map(({ name }) => name)).toEqual([served]);
      expect(left.certificates.map(({ host }) => host)).toEqual([served]);
    },
  );

  test('an edge with a later revision than the database, as after a restore, receives all records', async () => {
    const route = routeTo(await deploy());
    const { revision } = await changes();
    const restored = await changes(edgeRecords, revision + 100n);
    expect(restored).toMatchObject({ revision, removedRoutes: [], removedCertificates: [] });
    expect(restored.routes).toContainEqual(route);
    const names = (await edgeRecords.names()).filter((name) => !isPreview(name));
    expect(restored.routes).toHaveLength(names.length);
  });

  testOnBoth('an edge that polls during a hundred changes misses none', async () => {
    const account = await newAccount(stores);
    const rivals = await Promise.all(Array.from({ length: 20 }, () => newProject(stores, account)));
    const edges = [edgeRecords, stores.secondProcess.edgeRecords].map(edgeThatFollows);
    let isOver = false;
    const following = edges.map(async ({ ask }) => {
      while (!isOver) {
        await ask();
        await nextTurn();
      }
    });
    const { won, lost } = await race(20, async (n) => {
      const { projects } = n % 2 ? stores : stores.secondProcess;
      let last = '';
      for (let times = 0; times < 5; times++) last = await deploy(rivals[n], projects);
      return [rivals[n]?.slug, last] as const;
    });
    isOver = true;
    await Promise.all(following);
    expect(lost).toEqual([]);
    for (const { ask, serves } of edges) {
      await ask();
      for (const [slug, last] of won) expect(serves.get(slug ?? '')).toBe(last);
    }
    expect((await changes()).revision).toBe(known + 200n);
  });
});

/** An edge that knows only the changes that it received. */
const edgeThatFollows = (records: EdgeRecords) => {
  const serves = new Map<string, string>();
  let known = 0n;
  const ask = async (): Promise<void> => {
    const { revision, routes } = await records.changesSince(known);
    expect(revision).toBeGreaterThanOrEqual(known);
    for (const route of routes) if (route.kind === 'site') serves.set(route.name, route.deployId);
    known = revision;
  };
  return { serves, ask };
};

const count = 10_000;

/** Inserts the stored rows directly, in one transaction instead of one for each. */
const fill = async (database: Database): Promise<void> => {
  await database.transaction(async (db) => {
    for (let first = 1; first <= count; first += 500) {
      const numbers = Array.from({ length: 500 }, (_, n) => first + n);
      await db.insertInto('routes').values(numbers.map(routeRow)).execute();
      await db.insertInto('certificates').values(numbers.map(certificateRow)).execute();
    }
    await db
      .updateTable('edge_revision')
      .set({ revision: BigInt(2 * count) })
      .execute();
  });
};

const hostOf = (number: number) => `www.shop-${number}.example`;

const routeRow = (number: number) => {
  const place = { name: hostOf(number), revision: BigInt(number) };
  return { ...place, project_id: `proj_${number}`, deploy_id: `dep_${number}` };
};

const certificateRow = (number: number) => {
  const host = hostOf(number);
  const { privateKey, chain } = certificateFor(host, { chain: 'x'.repeat(4000) });
  const sealed = sealedColumns(testSealer, 'certificates', { key: host, secret: privateKey });
  const revision = BigInt(count + number);
  return { host, chain, ...sealed, not_before: 0n, not_after: 1n, revision };
};

describe.each(databaseKinds)('records for the edges in %s', (kind) => {
  testOnBoth(
    'ten thousand routes and certificates are loaded by one call, which decrypts no key',
    async () => {
      const home = await migratedDatabase(kind);
      const database = openDatabase(home.url);
      await fill(database);
      const opened = jest.spyOn(testSealer, 'open');
      const edgeRecords = new KyselyEdgeRecords(database, testSealer);
      const { revision, routes, certificates } = await edgeRecords.changesSince(0n);
      await database.close();
      await home.drop();
      expect(revision).toBe(BigInt(2 * count));
      const hosts = Array.from({ length: count }, (_, n) => hostOf(n + 1));
      expect(routes.map(({ name }) => name)).toEqual(hosts);
      expect(certificates.map(({ host }) => host)).toEqual(hosts);
      expect(opened).not.toHaveBeenCalled();
      expect(certificates.at(-1)?.privateKey()).toMatch(/^-----BEGIN PRIVATE KEY/);
      expect(opened).toHaveBeenCalledTimes(1);
      opened.mockRestore();
    },
  );
});
