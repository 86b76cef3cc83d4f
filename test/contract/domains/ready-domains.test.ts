import { beforeEach, expect } from '@jest/globals';
import { isCertified } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import { isReady } from '../../../src/domains/domain/attachment/serving.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { takeEvents } from '../../support/accounts.ts';
import {
  arrive,
  contest,
  expire,
  liveDomain,
  newDomain,
  newHost,
  prepare,
  readyDomain,
  remove,
  servedProject,
  undelegate,
} from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('ready domains', (stores) => {
  const { domains } = stores;
  let project: Project;
  let host: string;
  let ready: CustomDomain;
  beforeEach(async () => {
    project = await servedProject(stores);
    host = newHost();
    ready = await readyDomain(stores, project, { host });
  });

  const elsewhere = async () => newDomain(stores, await servedProject(stores), { host });
  const revision = async () => (await stores.edgeRecords.changesSince(0n)).revision;
  const types = async () => (await takeEvents(stores)).map(({ type }) => type);
  /** The records that a new edge receives for the name. */
  const served = async () => {
    const { routes, certificates } = await stores.secondProcess.edgeRecords.changesSince(0n);
    const route = routes.find(({ name }) => name === host);
    return {
      projectId: route?.projectId,
      hasKey: certificates.some((one) => one.host === host),
    };
  };

  test('edges serve a prepared domain although its state is still "added"', async () => {
    expect(isReady(ready)).toBe(true);
    expect(await served()).toEqual({ projectId: project.id, hasKey: true });
    expect(await domains.holdersOf(host)).toEqual([ready]);
  });

  testOnBoth(
    'a prepared domain goes live in one step, and edges serve it and its certificate throughout',
    async () => {
      const before = await revision();
      const { state } = await domains.change(ready.id, arrive);
      expect(state).toMatchObject({ state: 'live', certificate: ready.certificate });
      expect(await types()).toEqual(['domain_verified', 'domain_live']);
      const [live, verified] = await stores.timeline.list(ready.id, 2);
      expect([verified?.kind, live?.kind]).toEqual(['verified', 'live']);
      expect(await stores.edgeRecords.changesSince(before)).toMatchObject({
        removedRoutes: [],
        certificates: [],
        removedCertificates: [],
      });
      expect(await served()).toEqual({ projectId: project.id, hasKey: true });
    },
  );

  test('edges stop serving a prepared domain without the delegation, and its certificate stays stored', async () => {
    const before = await revision();
    await domains.change(ready.id, undelegate);
    expect(await stores.edgeRecords.changesSince(before)).toMatchObject({
      routes: [],
      removedRoutes: [host],
      certificates: [],
      removedCertificates: [],
    });
    expect(await types()).toEqual(['domain_unprepared']);
    expect(await served()).toEqual({ projectId: undefined, hasKey: true });
  });

  test('edges lose a prepared domain, its route and its key when its certificate has ended', async () => {
    const { state } = await domains.change(ready.id, expire);
    expect(state).toMatchObject({ state: 'added', certificate: { kind: 'wanted' } });
    expect(await types()).toEqual(['domain_unprepared']);
    expect(await served()).toEqual({ projectId: undefined, hasKey: false });
  });

  test('removing a prepared domain removes its route, certificate and key', async () => {
    await domains.change(ready.id, remove);
    expect(await served()).toEqual({ projectId: undefined, hasKey: false });
    expect(await domains.holdersOf(host)).toEqual([]);
  });

  test('another account that proves the name takes it with its certificate, and the prepared domain stays "added"', async () => {
    const subject = `domain:${ready.id}:1`;
    const order = { authority: '', subject, host, privateKey: 'secret' };
    await stores.certificateOrders.begin(order);
    const claimant = await elsewhere();
    const before = await revision();
    for (const [claim, state] of [
      [prepare, 'added'],
      [contest, 'live'],
    ] as const) {
      const { state: now } = await domains.change(claimant.id, claim);
      expect(now).toMatchObject({ state, certificate: ready.certificate });
      expect(await domains.holdersOf(host)).toMatchObject([{ id: claimant.id }]);
      expect(await domains.get(ready.id)).toMatchObject({
        state: 'added',
        certificate: { kind: 'none' },
      });
    }
    expect(await stores.certificateOrders.find(subject)).toBeUndefined();
    expect(await stores.edgeRecords.changesSince(before)).toMatchObject({
      removedRoutes: [],
      certificates: [],
      removedCertificates: [],
    });
    expect(await served()).toEqual({ projectId: claimant.projectId, hasKey: true });
    expect(await types()).toEqual([
      ...['domain_unprepared', 'domain_prepared', 'domain_contested'],
      ...['domain_verified', 'domain_live'],
    ]);
  });

  test('an account that adds the name is notified that it is proven, while the delegation exists', async () => {
    await domains.change(ready.id, undelegate);
    await takeEvents(stores);
    const told: unknown[] = [];
    const add = async () => {
      const { accountId, id: projectId } = await servedProject(stores);
      const wanted = { accountId, projectId, hosts: { typed: host }, addedSince: new Date(0) };
      const refuse = new Error('not today');
      const adding = domains.add(wanted, ({ typed }) => {
        told.push(typed.provenElsewhere);
        throw refuse;
      });
      await expect(adding).rejects.toBe(refuse);
    };
    await add();
    await domains.change(ready.id, remove);
    await readyDomain(stores, project, { host });
    await add();
    expect(told).toEqual([undefined, host]);
  });

  test('a name that is live in another account is not prepared', async () => {
    const name = newHost();
    const live = await liveDomain(stores, project, { host: name });
    const { id } = await newDomain(stores, await servedProject(stores), { host: name });
    const { state } = await domains.change(id, prepare);
    expect(state.certificate.kind).toBe('none');
    expect(await domains.holdersOf(name)).toEqual([live]);
  });

  testOnBoth('when ten accounts prepare one name at once, one has it in the end', async () => {
    const all: CustomDomain[] = [];
    while (all.length < 10) all.push(await elsewhere());
    const process = (n: number) => (n % 2 ? domains : stores.secondProcess.domains);
    const { lost } = await race(10, (n) => process(n).change(all[n]?.id ?? '', prepare));
    expect(lost.filter((code) => code !== 'domain_taken')).toEqual([]);
    const now = await Promise.all([ready, ...all].map(({ id }) => domains.get(id)));
    const holders = now.filter((one) => one && isCertified(one));
    expect(holders).toEqual(await domains.holdersOf(host));
    expect(new Set(now.map((one) => one?.state))).toEqual(new Set(['added']));
  });
});
