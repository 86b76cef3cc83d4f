import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isCertified } from '../../../src/domains/domain/attachment/plan.ts';
import {
  unchanged,
  type CustomDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import type { CustomDomains } from '../../../src/domains/ports.ts';
import { takeEvents } from '../../support/accounts.ts';
import {
  contest,
  goLive,
  liveDomain,
  newDomain,
  newHost,
  remove,
  servedProject,
  verify,
} from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { refusal } from '../../support/refusal.ts';
import { scribble } from '../../support/scribble.ts';
import { certificateFor } from '../../support/sites/sites.ts';
import type { Stores } from '../../support/stores.ts';

/** Which of several claimants holds a name, and what depends on that. */
export const provenNamesContract = (open: () => Promise<Stores>): void => {
  let stores: Stores;
  let domains: CustomDomains;
  let project: Project;
  let host: string;
  beforeAll(async () => {
    stores = await open();
    domains = stores.domains;
  });
  afterAll(() => stores.close());
  beforeEach(async () => {
    project = await servedProject(stores);
    host = newHost();
  });

  /** The name on a project of another account. */
  const elsewhere = async () => newDomain(stores, await servedProject(stores), { host });
  const rivals = async (count: number): Promise<readonly CustomDomain[]> => {
    const made: CustomDomain[] = [];
    while (made.length < count) made.push(await elsewhere());
    return made;
  };
  const process = (n: number) => (n % 2 ? domains : stores.secondProcess.domains);

  /** An order that is under way, with its challenge. @returns its subject */
  const orderFor = async ({ id }: CustomDomain, attempt = ':1'): Promise<string> => {
    const subject = `domain:${id}${attempt}`;
    await stores.certificateOrders.begin({ subject, host, privateKey: 'secret' });
    await stores.certificateOrders.publish(subject, { token: subject, keyAuthorization: 'yes' });
    return subject;
  };
  const isOrdered = async (subject: string): Promise<boolean> => {
    const order = await stores.certificateOrders.find(subject);
    expect(await stores.certificateOrders.answer(host, subject)).toBe(order && 'yes');
    return order !== undefined;
  };
  /** What a new edge gets for the name. */
  const served = async () => {
    const { routes, certificates } = await stores.secondProcess.edgeRecords.changesSince(0n);
    const route = routes.find(({ name }) => name === host);
    const certificate = certificates.find((one) => one.host === host);
    return { projectId: route?.projectId, key: certificate?.privateKey() };
  };
  const nothing = { projectId: undefined, key: undefined };

  test('when twenty prove one name at once, one holds it, and nothing of the others is stored', async () => {
    const all = await rivals(20);
    const { won, lost } = await race(20, (n) =>
      process(n).change(all[n]?.id ?? '', (domain) => verify(domain)),
    );
    expect(lost).toEqual(Array(19).fill('domain_taken'));
    const winner = won[0]?.state;
    expect(await domains.holderOf(host)).toEqual(winner);
    for (const { id } of all.filter((one) => one.id !== winner?.id))
      expect(await domains.get(id)).toEqual(all.find((one) => one.id === id));
    expect(await takeEvents(stores)).toMatchObject([{ domainId: winner?.id }]);
  });

  test('a decision gets the holder of the name, unless that is the domain itself or nobody', async () => {
    const told: unknown[] = [];
    const ask = ({ id }: CustomDomain) =>
      domains.change(id, (domain, holder) => {
        told.push(structuredClone(holder));
        scribble(holder);
        return unchanged(domain);
      });
    const [mine, theirs] = [await newDomain(stores, project, { host }), await elsewhere()];
    await ask(mine);
    const { state: verified } = await domains.change(theirs.id, verify);
    for (const domain of [mine, theirs]) await ask(domain);
    const { state: live } = await domains.change(theirs.id, goLive);
    await ask(mine);
    await domains.change(theirs.id, remove);
    await ask(mine);
    expect(told).toEqual([undefined, verified, undefined, live, undefined]);
  });

  test('proving a name takes it and everything attached to it from its holder in one step', async () => {
    const holder = await liveDomain(stores, project, { host });
    const subject = await orderFor(holder);
    const claimant = await elsewhere();
    const before = (await stores.edgeRecords.changesSince(0n)).revision;

    const { state: verified } = await stores.secondProcess.domains.change(claimant.id, contest);
    expect(verified).toMatchObject({ id: claimant.id, state: 'verified' });
    expect(await domains.holderOf(host)).toEqual(verified);
    const displaced = await domains.get(holder.id);
    expect(displaced).toMatchObject({ state: 'removed', reason: 'contested' });
    expect(await domains.find(project.id, host)).toEqual(displaced);
    expect(await isOrdered(subject)).toBe(false);
    expect(await stores.edgeRecords.changesSince(before)).toMatchObject({
      ...{ routes: [], removedRoutes: [host], certificates: [], removedCertificates: [host] },
    });
    expect((await takeEvents(stores)).map(({ type }) => type)).toEqual([
      ...['domain_removed', 'domain_verified'],
    ]);

    await domains.change(claimant.id, goLive);
    expect((await served()).projectId).toBe(claimant.projectId);
  });

  test('when the decision leaves the name with its holder, nothing is stored', async () => {
    const holder = await liveDomain(stores, project, { host });
    const before = await served();
    const claimant = await elsewhere();
    const certificate = certificateFor(host);
    const claiming = domains.change(claimant.id, (domain, held = domain) => {
      return { ...verify(domain), displaced: unchanged(held), certificate };
    });
    await expect(claiming).rejects.toHaveProperty('code', 'domain_taken');
    expect(await domains.get(claimant.id)).toEqual(claimant);
    expect(await domains.get(holder.id)).toEqual(holder);
    expect(await served()).toEqual(before);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('nothing is stored when the decision about a contest throws', async () => {
    const holder = await liveDomain(stores, project, { host });
    const before = await served();
    const subject = await orderFor(holder);
    const claimant = await elsewhere();
    const claiming = domains.change(claimant.id, (domain, held) => {
      contest(domain, held);
      throw refusal;
    });
    await expect(claiming).rejects.toBe(refusal);
    expect(await domains.get(claimant.id)).toEqual(claimant);
    expect(await domains.get(holder.id)).toEqual(holder);
    expect(await served()).toEqual(before);
    expect(await isOrdered(subject)).toBe(true);
  });

  test('when ten take a name from each other at once, only the last one has it', async () => {
    const holder = await liveDomain(stores, project, { host });
    const all = await rivals(10);
    const { lost } = await race(10, (n) => process(n).change(all[n]?.id ?? '', contest));
    expect(lost).toEqual([]);
    const now = await Promise.all([holder, ...all].map(({ id }) => domains.get(id)));
    const holders = now.filter((one) => one && isCertified(one));
    expect(holders).toEqual([await domains.holderOf(host)]);
    const others = now.filter((one) => one !== holders[0]);
    expect(others).toEqual(
      Array(10).fill(expect.objectContaining({ state: 'removed', reason: 'contested' })),
    );
    expect(await served()).toEqual(nothing);
  });

  test('a certificate is stored with the change that it belongs to, and so is the next one', async () => {
    const { id } = await newDomain(stores, project, { host });
    await domains.change(id, verify);
    expect(await served()).toEqual(nothing);
    const [first, second] = [certificateFor(host), certificateFor(host)];
    await domains.change(id, (domain) => ({ ...goLive(domain), certificate: first }));
    expect(await served()).toEqual({ projectId: project.id, key: first.privateKey });
    await domains.change(id, (domain) => ({ ...unchanged(domain), certificate: second }));
    expect(await served()).toEqual({ projectId: project.id, key: second.privateKey });
  });

  test('removing a domain removes its route, certificate, orders and challenges, and nothing else', async () => {
    const domain = await liveDomain(stores, project, { host });
    const neighbour = await liveDomain(stores, project);
    const its = [await orderFor(domain), await orderFor(domain, ':22')];
    const others = [
      await orderFor(domain, '0:1'),
      await orderFor(domain, ''),
      await orderFor(neighbour),
    ];
    await domains.change(domain.id, remove);
    expect(await served()).toEqual(nothing);
    expect(await domains.holderOf(host)).toBeUndefined();
    expect(await Promise.all(its.map(isOrdered))).toEqual([false, false]);
    expect(await Promise.all(others.map(isOrdered))).toEqual([true, true, true]);
    const { routes, certificates } = await stores.edgeRecords.changesSince(0n);
    expect(routes.map(({ name }) => name)).toEqual(
      expect.arrayContaining([neighbour.host, project.slug]),
    );
    expect(certificates.map((one) => one.host)).toContain(neighbour.host);
  });

  test('removing an unproven domain takes nothing from the holder of its name', async () => {
    const live = await liveDomain(stores, project, { host });
    const subject = await orderFor(live);
    const before = await served();
    const { id } = await elsewhere();
    await domains.change(id, remove);
    expect(await domains.holderOf(host)).toEqual(live);
    expect(before).toEqual({ projectId: project.id, key: expect.any(String) });
    expect(await served()).toEqual(before);
    expect(await isOrdered(subject)).toBe(true);
  });

  test('a name that is added again is independent of its earlier attachment', async () => {
    const old = await liveDomain(stores, project, { host });
    await domains.change(old.id, remove);
    const again = await liveDomain(stores, project, { host });
    expect(again.token).not.toBe(old.token);
    const subject = await orderFor(again);
    const before = await served();
    for (const late of [remove, unchanged]) await domains.change(old.id, late);
    expect(await domains.find(project.id, host)).toEqual(again);
    expect(await served()).toEqual(before);
    expect(await isOrdered(subject)).toBe(true);
    expect(await domains.get(old.id)).toMatchObject({ state: 'removed', token: old.token });
  });
};
