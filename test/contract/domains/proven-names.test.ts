import { beforeEach, describe, expect } from '@jest/globals';
import {
  isCertified,
  provenAt,
} from '../../../src/domains/domain/attachment/domain-certificate.ts';
import {
  mostRivalsTold,
  unchanged,
  type CustomDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { baseOf } from '../../../src/domains/domain/names/hostname.ts';
import { later, takeEvents } from '../../support/accounts.ts';
import {
  addTo,
  contest,
  deployTo,
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
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('proven names', (stores) => {
  const { domains } = stores;
  let project: Project;
  let host: string;
  beforeEach(async () => {
    project = await servedProject(stores);
    host = newHost();
  });

  /** Adds the name to a project of another account. */
  const elsewhere = async () => newDomain(stores, await servedProject(stores), { host });
  const rivals = (count: number): Promise<readonly CustomDomain[]> =>
    Promise.all(Array.from({ length: count }, elsewhere));
  const process = (n: number) => (n % 2 ? domains : stores.secondProcess.domains);

  /** Begins an order with its challenge. @returns its subject */
  const orderFor = async ({ id }: CustomDomain, attempt = ':1'): Promise<string> => {
    const subject = `domain:${id}${attempt}`;
    await stores.certificateOrders.begin({ authority: '', subject, host, privateKey: 'secret' });
    await stores.certificateOrders.publish(subject, { token: subject, keyAuthorization: 'yes' });
    return subject;
  };
  const isOrdered = async (subject: string): Promise<boolean> => {
    const order = await stores.certificateOrders.find(subject);
    expect(await stores.certificateOrders.answer(host, subject)).toBe(order && 'yes');
    return order !== undefined;
  };
  /** The records that a new edge receives for the name. */
  const served = async () => {
    const { routes, certificates } = await stores.secondProcess.edgeRecords.changesSince(0n);
    const route = routes.find(({ name }) => name === host);
    const certificate = certificates.find((one) => one.host === host);
    return { projectId: route?.projectId, key: certificate?.privateKey() };
  };
  const nothing = { projectId: undefined, key: undefined };

  testOnBoth(
    'when twenty accounts prove one name at once, one holds it, and nothing of the others is stored',
    async () => {
      const all = await rivals(20);
      const { won, lost } = await race(20, (n) =>
        process(n).change(all[n]?.id ?? '', (domain) => verify(domain)),
      );
      expect(lost).toEqual(Array(19).fill('domain_taken'));
      const winner = won[0]?.state;
      expect(await domains.holdersOf(host)).toEqual([winner]);
      for (const { id } of all.filter((one) => one.id !== winner?.id))
        expect(await domains.get(id)).toEqual(all.find((one) => one.id === id));
      const [verified, ...others] = await takeEvents(stores);
      expect(verified).toMatchObject({ type: 'domain_verified', domainId: winner?.id });
      expect(others.map(({ type }) => type)).toEqual(Array(19).fill('domain_contested'));
    },
  );

  test('proving a name notifies every other account that is waiting to prove it, once, with the proof', async () => {
    const [first, second] = [await elsewhere(), await elsewhere()];
    const removed = await elsewhere();
    const other = await newDomain(stores, await servedProject(stores));
    await domains.change(removed.id, remove);
    const mine = await newDomain(stores, project, { host });
    await takeEvents(stores);
    const { state } = await domains.change(mine.id, verify);
    const told = (await takeEvents(stores)).filter(({ type }) => type === 'domain_contested');
    const about = ({ id, accountId, projectId }: CustomDomain) => ({
      type: 'domain_contested',
      occurredAt: isCertified(state) && provenAt(state),
      accountId,
      projectId,
      domainId: id,
      host,
    });
    expect(told).toEqual([about(first), about(second)]);
    for (const one of [first, second, other]) expect(await domains.get(one.id)).toEqual(one);
    for (const step of [goLive, unchanged]) await domains.change(mine.id, step);
    expect((await takeEvents(stores)).map(({ type }) => type)).not.toContain('domain_contested');
  });

  test('taking a name from its holder notifies the accounts that wait for it, and the holder only once', async () => {
    const holder = await liveDomain(stores, project, { host });
    const [claimant, third] = [await elsewhere(), await elsewhere()];
    await takeEvents(stores);
    await domains.change(claimant.id, contest);
    const told = await takeEvents(stores);
    expect(told.map((event) => [event.type, 'domainId' in event && event.domainId])).toEqual([
      ['domain_removed', holder.id],
      ['domain_verified', claimant.id],
      ['domain_live', claimant.id],
      ['domain_contested', third.id],
    ]);
  });

  test('nobody is notified of a proof that is not stored', async () => {
    const [mine] = [await newDomain(stores, project, { host }), await elsewhere()];
    await takeEvents(stores);
    const proving = domains.change(mine.id, (domain) => {
      verify(domain);
      throw refusal;
    });
    await expect(proving).rejects.toBe(refusal);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('an account that adds a name proven by another account is notified at once; one that adds a free name is not', async () => {
    await liveDomain(stores, project, { host });
    const other = await servedProject(stores);
    const { id } = await addTo(stores, other, { host });
    const told = await takeEvents(stores);
    expect(told.map(({ type }) => type)).toEqual(['domain_added', 'domain_contested']);
    expect(told[1]).toMatchObject({ accountId: other.accountId, domainId: id, host });
    await addTo(stores, other);
    expect((await takeEvents(stores)).map(({ type }) => type)).toEqual(['domain_added']);
  });

  testOnBoth('one proof notifies at most a hundred other accounts', async () => {
    await rivals(mostRivalsTold + 1);
    const mine = await newDomain(stores, project, { host });
    await takeEvents(stores);
    await domains.change(mine.id, verify);
    expect(await takeEvents(stores)).toHaveLength(1 + mostRivalsTold);
  });

  test('a decision receives the holder of the name if it is another domain', async () => {
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

  testOnBoth(
    'proving a name takes it and everything attached to it from its holder in one step',
    async () => {
      const holder = await liveDomain(stores, project, { host });
      const subject = await orderFor(holder);
      const claimant = await elsewhere();
      const { key } = await served();
      const before = (await stores.edgeRecords.changesSince(0n)).revision;

      const { state: live } = await stores.secondProcess.domains.change(claimant.id, contest);
      const { certificate } = holder;
      expect(live).toMatchObject({ id: claimant.id, state: 'live', certificate });
      expect(await domains.holdersOf(host)).toEqual([live]);
      const displaced = await domains.get(holder.id);
      expect(displaced).toMatchObject({ state: 'removed', reason: 'contested' });
      expect(await domains.find(project.id, host)).toEqual(displaced);
      expect(await isOrdered(subject)).toBe(false);
      expect(await stores.edgeRecords.changesSince(before)).toMatchObject({
        routes: [{ name: host, projectId: claimant.projectId }],
        removedRoutes: [],
        certificates: [],
        removedCertificates: [],
      });
      expect(await served()).toEqual({ projectId: claimant.projectId, key });
      expect((await takeEvents(stores)).map(({ type }) => type)).toEqual([
        ...['domain_removed', 'domain_verified', 'domain_live'],
      ]);
    },
  );

  test('a name that is taken before its certificate exists has no certificate for its next holder either', async () => {
    const holder = await newDomain(stores, project, { host });
    await domains.change(holder.id, verify);
    const subject = await orderFor(holder);
    const { state } = await domains.change((await elsewhere()).id, contest);
    expect(state).toMatchObject({ state: 'verified', certificate: { work: { step: 'planned' } } });
    expect(await isOrdered(subject)).toBe(false);
    expect(await served()).toEqual(nothing);
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

  test('a decision about a contested name that throws stores nothing', async () => {
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

  testOnBoth(
    'one lookup finds the holder of a name and of the wildcard that covers it, and no name below or above',
    async () => {
      const wildcard = `*.${host}`;
      host = `a.${host}`;
      const owner = await servedProject(stores);
      const cover = await liveDomain(stores, owner, { host: wildcard });
      expect(await domains.holdersOf(host)).toEqual([cover]);
      const exact = await liveDomain(stores, project, { host });
      expect(await stores.secondProcess.domains.holdersOf(host)).toEqual([exact, cover]);
      expect(await domains.holdersOf(wildcard)).toEqual([cover]);
      for (const other of [`a.${host}`, baseOf(wildcard), `*.${host}`])
        expect(await domains.holdersOf(other)).toEqual([]);
      expect([await domains.get(cover.id), await domains.get(exact.id)]).toEqual([cover, exact]);
    },
  );

  test('a name is reported as proven elsewhere when another account holds the wildcard that covers it', async () => {
    const told: (string | undefined)[] = [];
    const add = (its: Project, name: string) =>
      domains.add(
        { ...its, projectId: its.id, hosts: { typed: name }, addedSince: later(0) },
        ({ typed }) => {
          told.push(typed.provenElsewhere);
          throw refused;
        },
      );
    const refused = new Error('only asked');
    const cover = await liveDomain(stores, project, { host: `*.${host}` });
    host = `a.${host}`;
    const other = await servedProject(stores);
    for (const [its, name] of [
      [project, host],
      [other, host],
      [other, cover.host],
    ] as const)
      await expect(add(its, name)).rejects.toBe(refused);
    expect(told).toEqual([undefined, cover.host, cover.host]);
  });

  test('proving a wildcard notifies other accounts that wait to prove a name below it, and nobody else', async () => {
    const wildcard = `*.${host}`;
    const cover = await newDomain(stores, project, { host: wildcard });
    const below = async (name: string, its?: Project) =>
      newDomain(stores, its ?? (await servedProject(stores)), { host: name });
    const told = [await below(`a.${host}`), await below(`b.${host}`), await below(wildcard)];
    await below(`mine.${host}`, project);
    await below(host);
    await below(`b.a.${host}`);
    await below(`xa${host}`);
    await liveDomain(stores, await servedProject(stores), { host: `proven.${host}` });
    await domains.change((await below(`gone.${host}`)).id, remove);
    await takeEvents(stores);
    await domains.change(cover.id, verify);
    const events = (await takeEvents(stores)).filter(({ type }) => type === 'domain_contested');
    const idsOf = events.map((event) => 'domainId' in event && event.domainId);
    expect(idsOf).toEqual(told.map(({ id }) => id));
    const wildcards = events.map((event) => 'wildcard' in event && event.wildcard);
    expect(wildcards).toEqual([wildcard, wildcard, false]);
  });

  describe('while a verified name waits for its certificate', () => {
    /** Whether an edge knows the name but refuses it, because it has no certificate. */
    const isKnown = async (name = host) => {
      const { routes, certificates } = await stores.edgeRecords.changesSince(0n);
      expect(certificates.map((one) => one.host)).not.toContain(name);
      return routes.some((route) => route.name === name);
    };
    const coverIn = (its: Project, step = liveDomain) => step(stores, its, { host: `*.${host}` });

    test('no wildcard of another account answers for the name, but answers again once the domain is removed', async () => {
      await coverIn(await servedProject(stores));
      host = `a.${host}`;
      const { id } = await newDomain(stores, project, { host });
      expect(await isKnown()).toBe(false);
      await domains.change(id, verify);
      expect(await isKnown()).toBe(true);
      await deployTo(stores, project);
      expect(await isKnown()).toBe(true);
      await domains.change(id, remove);
      expect(await isKnown()).toBe(false);
    });

    test('a wildcard that another account proves meanwhile does not answer either', async () => {
      const cover = await coverIn(await servedProject(stores), newDomain);
      host = `a.${host}`;
      const { id } = await newDomain(stores, project, { host });
      await domains.change(id, verify);
      expect(await isKnown()).toBe(false);
      await domains.change(cover.id, verify);
      expect(await isKnown()).toBe(true);
    });

    testOnBoth.each([
      ['the name', 0],
      ['the wildcard', 1],
    ])(
      'a wildcard that is proven at the same moment does not answer either, %s first',
      async (_, first) => {
        const cover = await coverIn(await servedProject(stores), newDomain);
        host = `a.${host}`;
        const { id } = await newDomain(stores, project, { host });
        const proofs = first === 0 ? [id, cover.id] : [cover.id, id];
        const [one = '', other = ''] = proofs;
        const { domains: elsewhere } = stores.secondProcess;
        const second = await stores.together(async () => {
          await domains.change(one, verify);
          const proof = elsewhere.change(other, verify);
          // The second change waits until the first one is stored. Without that, it would be over by now.
          for (let n = 0; n < 30; n++) await elsewhere.get(other);
          return { proof };
        });
        await second.proof;
        expect(await isKnown()).toBe(true);
      },
    );

    test('a wildcard of the same account answers for the name', async () => {
      await coverIn(project);
      host = `a.${host}`;
      const { id } = await newDomain(stores, project, { host });
      await domains.change(id, verify);
      expect(await isKnown()).toBe(false);
    });

    test('a wildcard that the same account takes from another account answers too', async () => {
      await coverIn(await servedProject(stores));
      const cover = await coverIn(project, newDomain);
      host = `a.${host}`;
      const { id } = await newDomain(stores, project, { host });
      await domains.change(id, verify);
      expect(await isKnown()).toBe(true);
      await domains.change(cover.id, contest);
      expect(await isKnown()).toBe(false);
    });
  });

  test("proving a name changes nothing about another account's wildcard that covers it", async () => {
    const cover = await liveDomain(stores, await servedProject(stores), {
      host: `*.${host}`,
    });
    host = `a.${host}`;
    const claimant = await newDomain(stores, project, { host });
    await takeEvents(stores);
    await domains.change(claimant.id, contest);
    await domains.change(claimant.id, goLive);
    expect(await domains.get(cover.id)).toEqual(cover);
    expect(
      (await takeEvents(stores)).filter((one) => 'domainId' in one && one.domainId === cover.id),
    ).toEqual([]);
    await domains.change(claimant.id, remove);
    const { routes } = await stores.edgeRecords.changesSince(0n);
    expect(routes).toContainEqual(
      expect.objectContaining({ name: cover.host, projectId: cover.projectId }),
    );
  });

  testOnBoth(
    'when ten accounts take a name from each other at once, the last one has it',
    async () => {
      const holder = await liveDomain(stores, project, { host });
      const all = await rivals(10);
      const { lost } = await race(10, (n) => process(n).change(all[n]?.id ?? '', contest));
      expect(lost).toEqual([]);
      const now = await Promise.all([holder, ...all].map(({ id }) => domains.get(id)));
      const holders = now.filter((one) => one && isCertified(one));
      expect(holders).toEqual(await domains.holdersOf(host));
      const others = now.filter((one) => one !== holders[0]);
      expect(others).toEqual(
        Array(10).fill(expect.objectContaining({ state: 'removed', reason: 'contested' })),
      );
      expect(await served()).toEqual({ projectId: holders[0]?.projectId, key: expect.any(String) });
    },
  );

  test('a certificate is stored together with the change that it belongs to, and so is its renewal', async () => {
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
    expect(await domains.holdersOf(host)).toEqual([]);
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
    expect(await domains.holdersOf(host)).toEqual([live]);
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
});
