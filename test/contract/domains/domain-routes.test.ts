import { beforeEach, expect } from '@jest/globals';
import { now, later, takeEvents } from '../../support/accounts.ts';
import {
  contest,
  deployTo,
  goLive,
  liveDomain,
  newDomain,
  remove,
  routesIn,
  servedProject,
  verify,
  newHost,
} from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import { allowance, moment } from '../../support/domains/known-domains.ts';
import { refusal } from '../../support/refusal.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { isPreview } from '../../../src/domains/domain/redirects/redirects.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { rollBack } from '../../../src/sites/domain/site.ts';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { addDomains } from '../../../src/domains/domain/redirects/pair.ts';
import type { CustomDomains } from '../../../src/domains/ports.ts';

const ids = new UuidIds();
const lately = later(-1);

describeStores('routes of projects, and pairs of domains', (stores) => {
  let project: Project;
  beforeEach(async () => {
    project = await servedProject(stores);
  });

  const process = (n: number) => (n % 2 ? stores : stores.secondProcess);
  /** The deploys that hosts serve, by host, without the addresses of single deploys. */
  const served = async (of = project) =>
    Object.fromEntries(
      [...(await routesIn(stores, of))]
        .filter(([name]) => !isPreview(name))
        .map(([name, route]) => [name, route.kind === 'site' ? route.deployId : route.to]),
    );
  /** The project's own host and these hosts, with the deploy that the project serves. */
  const wholly = async ({ slug }: Project, hosts: readonly string[]) => {
    const deploy = (await stores.projects.find(slug))?.servedDeployId;
    return Object.fromEntries([slug, ...hosts].map((host) => [host, deploy]));
  };

  test('a domain has a route only while it is live, and its project decides the route', async () => {
    const deploy = await deployTo(stores, project);
    const own = { [project.slug]: deploy };
    const { id, host } = await newDomain(stores, project);
    expect(await served()).toEqual(own);
    await stores.domains.change(id, verify);
    expect(await served()).toEqual(own);
    await stores.domains.change(id, goLive);
    expect(await served()).toEqual({ ...own, [host]: deploy });
    await stores.domains.change(id, remove);
    expect(await served()).toEqual(own);
  });

  test('a deploy or rollback moves all hosts of its project and no others', async () => {
    const [one, other] = [await liveDomain(stores, project), await liveDomain(stores, project)];
    const removed = await liveDomain(stores, project);
    await stores.domains.change(removed.id, remove);
    const stranger = await servedProject(stores);
    await liveDomain(stores, stranger);
    const theirs = await served(stranger);

    const deploy = await deployTo(stores.secondProcess, project);
    const hosts = [one.host, other.host];
    expect(await served()).toEqual(await wholly(project, hosts));
    expect(await served()).toMatchObject({ [one.host]: deploy });
    await stores.projects.change(project, (site) => rollBack(site, 1, now));
    expect(await served()).toEqual(await wholly(project, hosts));
    expect(await served()).not.toMatchObject({ [one.host]: deploy });
    expect(await served(stranger)).toEqual(theirs);
  });

  test('a change that moves no host does not reach the edges', async () => {
    const { id } = await liveDomain(stores, project);
    const { revision } = await stores.edgeRecords.changesSince(0n);
    await stores.domains.change(id, verify);
    await newDomain(stores, project);
    expect((await stores.edgeRecords.changesSince(0n)).revision).toBe(revision);
  });

  testOnBoth('when a domain goes live during a deploy, both hosts serve that deploy', async () => {
    const pairs: { readonly domain: CustomDomain; readonly project: Project }[] = [];
    for (let n = 0; n < 10; n++) {
      const its = await servedProject(stores);
      const { id } = await newDomain(stores, its);
      const { state: domain } = await stores.domains.change(id, verify);
      pairs.push({ domain, project: its });
    }
    const rivals = pairs.flatMap(({ domain, project: its }, n) => [
      () => process(n).domains.change(domain.id, goLive),
      () => deployTo(process(n + 1), its),
    ]);
    const { lost } = await race(20, async (n) => rivals[n]?.());
    expect(lost).toEqual([]);
    for (const { domain, project: its } of pairs)
      expect(await served(its)).toEqual(await wholly(its, [domain.host]));
  });

  testOnBoth(
    'when names change owners during deploys, each host serves the right project',
    async () => {
      const other = await servedProject(stores);
      const claims: { readonly domain: CustomDomain; readonly project: Project }[] = [];
      for (let n = 0; n < 6; n++) {
        // Each project takes three names from the other.
        const [from, to] = n % 2 ? [project, other] : [other, project];
        const { host } = await liveDomain(stores, from);
        claims.push({ domain: await newDomain(stores, to, { host }), project: to });
      }
      const rivals = claims.flatMap(({ domain: { id } }, n) => [
        async () => {
          await process(n).domains.change(id, contest);
          await process(n).domains.change(id, goLive);
        },
        () => deployTo(process(n), project),
        () => deployTo(process(n + 1), other),
      ]);
      const { lost } = await race(18, async (n) => rivals[n]?.());
      expect(lost).toEqual([]);
      for (const one of [project, other]) {
        const hosts = claims
          .filter((claim) => claim.project === one)
          .map(({ domain }) => domain.host);
        expect(await served(one)).toEqual(await wholly(one, hosts));
      }
    },
  );

  interface Wanted {
    readonly host: string;
    readonly limit?: number;
    readonly domains?: CustomDomains;
  }

  /** Adds a name and its pair through the port. */
  const add = async ({ host, limit = 1000, domains = stores.domains }: Wanted) => {
    const { accountId, id: projectId } = project;
    const draftOf = (name: string) => {
      const hostname = { host: name, unicode: name, registrableDomain: 'shop.example', labels: '' };
      const [id, token] = [ids.next('dom'), ids.next('t').replace('_', '-')];
      return { id, token, accountId, projectId, hostname: { ...hostname, isApex: false } };
    };
    const hosts = { typed: host, other: `www.${host}` };
    const wanted = { accountId, projectId, hosts, addedSince: lately };
    const added = await domains.add(wanted, (facts) => {
      const allowed = { ...allowance, domains: limit, domainsAddedPerHour: 1000 };
      const drafts = { typed: draftOf(host), other: draftOf(`www.${host}`) };
      return addDomains(drafts, { ...facts, allowance: allowed }, moment(later(0)));
    });
    return { ...added, other: added.other! };
  };
  const hosts = async () => (await stores.domains.list(project.id)).map((one) => one.host).sort();

  test('both names of a domain and the redirect between them are stored together, with their events', async () => {
    const host = newHost();
    const { typed, other } = await add({ host, domains: stores.secondProcess.domains });
    for (const { state } of [typed, other]) {
      expect(await stores.domains.get(state.id)).toEqual(state);
      expect(await stores.timeline.list(state.id, 10)).toMatchObject([{ kind: 'added' }]);
    }
    const redirects = [{ from: other.state.host, to: host, status: 308 }];
    expect(await stores.settings.read(project.id)).toEqual({ primary: undefined, redirects });
    expect(await takeEvents(stores)).toMatchObject([
      { type: 'domain_added', host },
      { type: 'domain_added', host: other.state.host },
      { type: 'domain_settings_changed', projectId: project.id, redirects: 1 },
    ]);
  });

  test('the second name redirects once both are live', async () => {
    const { typed, other } = await add({ host: newHost() });
    const kindOf = async () => (await routesIn(stores, project)).get(other.state.host)?.kind;
    const kinds: unknown[] = [await kindOf()];
    for (const { state } of [other, typed]) {
      await stores.domains.change(state.id, verify);
      await stores.domains.change(state.id, goLive);
      kinds.push(await kindOf());
    }
    expect(kinds).toEqual([undefined, 'site', 'redirect']);
  });

  test('nothing is stored when the decision throws, or when the second name cannot be stored', async () => {
    const { accountId, id: projectId } = project;
    const wanted = { accountId, projectId, addedSince: lately };
    const pair = { typed: newHost(), other: newHost() };
    const throwing = stores.domains.add({ ...wanted, hosts: pair }, () => {
      throw refusal;
    });
    await expect(throwing).rejects.toBe(refusal);
    const host = newHost();
    const there = await newDomain(stores, project, { host: `www.${host}` });
    await expect(add({ host })).rejects.toHaveProperty('code', 'domain_taken');
    expect(await hosts()).toEqual([there.host]);
    expect((await stores.settings.read(projectId)).redirects).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
    const nobodys = { ...wanted, projectId: 'proj_nobodys', hosts: pair };
    const missing = stores.domains.add(nobodys, () => {
      throw refusal;
    });
    await expect(missing).rejects.toHaveProperty('code', 'project_not_found');
  });

  testOnBoth('when twenty tabs send the same pair, one adds it, with one redirect', async () => {
    const host = newHost();
    const processes = [stores.domains, stores.secondProcess.domains];
    const { won, lost } = await race(20, (n) => add({ host, domains: processes[n % 2]! }));
    expect([won.length, new Set(lost)]).toEqual([1, new Set(['domain_taken'])]);
    expect(await hosts()).toEqual([host, `www.${host}`].sort());
    expect((await stores.settings.read(project.id)).redirects).toHaveLength(1);
  });

  testOnBoth(
    'when ten pairs compete for the last three places, exactly one pair is added',
    async () => {
      const processes = [stores.domains, stores.secondProcess.domains];
      const { won, lost } = await race(10, (n) =>
        add({ host: newHost(), limit: 3, domains: processes[n % 2]! }),
      );
      expect([won.length, new Set(lost)]).toEqual([1, new Set(['domain_limit_reached'])]);
      expect(await hosts()).toHaveLength(2);
    },
  );
});
