import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { addPair, type PairDecision } from '../../../src/domains/domain/redirects/pair.ts';
import type { CustomDomains } from '../../../src/domains/ports.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { later, takeEvents } from '../../support/accounts.ts';
import {
  goLive,
  newDomain,
  newHost,
  routesIn,
  servedProject,
  verify,
} from '../../support/domains/custom-domains.ts';
import { admitted, allowance, moment } from '../../support/domains/known-domains.ts';
import { race } from '../../support/race.ts';
import { refusal } from '../../support/refusal.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import type { Stores } from '../../support/stores.ts';

const ids = new UuidIds();
const lately = later(-1);

describeStores('pairs of domains', (open) => {
  let stores: Stores;
  let project: Project;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores.close());
  beforeEach(async () => {
    project = await servedProject(stores);
  });

  interface Wanted {
    readonly host: string;
    readonly limit?: number;
    readonly domains?: CustomDomains;
  }

  /** Asks the port for a name and its other one. */
  const add = ({ host, limit = 1000, domains = stores.domains }: Wanted): Promise<PairDecision> => {
    const { accountId, id: projectId } = project;
    const draftOf = (name: string) => {
      const hostname = { host: name, unicode: name, registrableDomain: 'shop.example', labels: '' };
      const [id, token] = [ids.next('dom'), ids.next('t').replace('_', '-')];
      return { id, token, accountId, projectId, hostname: { ...hostname, isApex: false } };
    };
    const hosts = { typed: host, other: `www.${host}` };
    return domains.addPair({ accountId, projectId, hosts, addedSince: lately }, (facts) => {
      const allowed = { ...allowance, domains: limit, domainsAddedPerHour: 1000 };
      const of = (one: typeof facts.typed) => ({ ...admitted, ...one, allowance: allowed });
      const drafts = { typed: draftOf(host), other: draftOf(`www.${host}`) };
      const all = { ...facts, typed: of(facts.typed), other: of(facts.other) };
      return addPair(drafts, all, moment(later(0)));
    });
  };
  const hosts = async () => (await stores.domains.list(project.id)).map((one) => one.host).sort();

  test('both names and the redirect are stored together, with their events', async () => {
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

  test('nothing is kept when the decision throws, or when the second name cannot be stored', async () => {
    const { accountId, id: projectId } = project;
    const wanted = { accountId, projectId, addedSince: lately };
    const pair = { typed: newHost(), other: newHost() };
    const throwing = stores.domains.addPair({ ...wanted, hosts: pair }, () => {
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
    const missing = stores.domains.addPair(nobodys, () => {
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
    'when ten pairs compete for the last three places, exactly one gets two of them',
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
