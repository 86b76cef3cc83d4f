import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import {
  unchanged,
  type CustomDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import type { CustomDomains } from '../../../src/domains/custom-domain-ports.ts';
import { later } from '../../support/accounts.ts';
import {
  liveDomain,
  newDomain,
  remove,
  servedProject,
  verify,
} from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { scribble } from '../../support/scribble.ts';
import { test, testOnBoth } from '../../support/store-contracts.ts';
import type { Stores } from '../../support/stores.ts';

const lease = 60_000;
const idsOf = (domains: readonly CustomDomain[]) => domains.map(({ id }) => id);

/** Which domains are due, and which process works on them. */
export const dueDomainsContract = (open: () => Promise<Stores>): void => {
  let stores: Stores;
  let domains: CustomDomains;
  let project: Project;
  beforeAll(async () => {
    stores = await open();
    domains = stores.domains;
  });
  afterAll(() => stores.close());
  beforeEach(async () => {
    project = await servedProject(stores);
    // Domains left by other tests are claimed for ever.
    await domains.claimDue(later(1e12), later(2e12), 1000);
  });

  const hold = (at = 0, limit = 1000, from = domains) =>
    from.claimDue(later(at), later(at + lease), limit);
  const claim = async (...wanted: Parameters<typeof hold>) => (await hold(...wanted)).domains;
  /** With a check to be made at that time. */
  const due = async (at: number | undefined): Promise<CustomDomain> => {
    const { id } = await newDomain(stores, project);
    const nextCheckAt = at === undefined ? undefined : later(at);
    const { state } = await domains.change(id, (one) =>
      unchanged({ ...one, dns: { ...one.dns, nextCheckAt } }),
    );
    return state;
  };

  testOnBoth(
    'due domains are claimed as stored, the longest waiting first, and others are not',
    async () => {
      const waiting = [await due(-1), await due(-3), await due(0), await due(-2)];
      const [second, fourth, first, third] = [waiting[3], waiting[2], waiting[1], waiting[0]];
      for (const at of [1, undefined]) await due(at);
      expect(await claim()).toEqual([first, second, third, fourth]);
      expect(await claim()).toEqual([]);
    },
  );

  test('a claim returns at most the requested number, and the next claim the rest', async () => {
    const waiting = [await due(-3), await due(-2), await due(-1)];
    expect(await claim(0, 2)).toEqual(waiting.slice(0, 2));
    expect(await claim(0, 2)).toEqual(waiting.slice(2));
  });

  test('a domain is also due for its certificate, but not once it is removed', async () => {
    const { id } = await due(undefined);
    expect(await claim()).toEqual([]);
    await domains.change(id, verify);
    expect(idsOf(await claim(1))).toEqual([id]);
    const removed = await due(-1);
    await domains.change(removed.id, remove);
    expect(await claim(lease)).toEqual([]);
  });

  test('another process can claim what one holds only after its lease ends', async () => {
    const held = await due(0);
    expect(await claim()).toEqual([held]);
    expect(await claim(lease - 1, 1000, stores.secondProcess.domains)).toEqual([]);
    expect(await claim(lease, 1000, stores.secondProcess.domains)).toEqual([held]);
    expect(await claim(lease)).toEqual([]);
  });

  testOnBoth('the time at which the first domain is due, or its lease ends, is known', async () => {
    const held = await due(-1);
    const free = await due(5);
    expect(await domains.nextDueAt()).toEqual(later(-1));
    const { claim: ours } = await hold(0, 1);
    expect(await domains.nextDueAt()).toEqual(later(5));
    await claim(5);
    expect(await domains.nextDueAt()).toEqual(later(lease));
    await domains.prolong([{ id: held.id, claim: ours }], later(9 * lease));
    expect(await domains.nextDueAt()).toEqual(later(5 + lease));
    await domains.release({ id: held.id, claim: ours });
    expect(await domains.nextDueAt()).toEqual(later(-1));
    for (const { id } of [held, free]) await domains.change(id, remove);
    expect(((await domains.nextDueAt()) ?? later(2e12)) >= later(2e12)).toBe(true);
  });

  testOnBoth(
    'extending a lease keeps a domain from others until its end, and only if it is held',
    async () => {
      const [held, free] = [await due(-1), await due(0)];
      const { claim: ours, domains: given } = await hold(0, 1);
      expect(given).toEqual([held]);
      const ids = [held.id, free.id, 'dom_nobodys'];
      await domains.prolong(
        ids.map((id) => ({ id, claim: ours })),
        later(3 * lease),
      );
      await domains.prolong([], later(9 * lease));
      const other = stores.secondProcess.domains;
      expect(await claim(2 * lease, 1000, other)).toEqual([free]);
      expect(await claim(3 * lease, 1000, other)).toEqual([held, free]);
    },
  );

  test('a released domain, and no other, can be claimed again at once', async () => {
    const [first, second] = [await due(-1), await due(0)];
    const before = await hold();
    expect(before.domains).toEqual([first, second]);
    await domains.release({ id: first.id, claim: before.claim });
    const { claim: ours, domains: again } = await hold();
    expect(again).toEqual([first]);
    for (const id of [first.id, first.id, 'dom_nobodys'])
      await domains.release({ id, claim: ours });
    expect(await claim(1)).toEqual([first]);
  });

  test('a worker whose lease has ended takes nothing from the current holder', async () => {
    const { id } = await due(0);
    const { claim: late } = await hold();
    const other = stores.secondProcess.domains;
    const { claim: theirs } = await hold(lease, 1000, other);
    expect(theirs).not.toBe(late);
    await domains.release({ id, claim: late });
    expect(await claim(lease)).toEqual([]);
    await domains.prolong([{ id, claim: late }], later(9 * lease));
    expect(idsOf(await claim(2 * lease, 1000, other))).toEqual([id]);
  });

  test('a change leaves the claim on a domain in place, and counts once it is released', async () => {
    const { id } = await due(0);
    const { claim: ours } = await hold();
    await domains.change(id, (one) =>
      unchanged({ ...one, dns: { ...one.dns, nextCheckAt: later(5) } }),
    );
    expect(await claim(5)).toEqual([]);
    await domains.release({ id, claim: ours });
    expect(await claim(4)).toEqual([]);
    expect(idsOf(await claim(5))).toEqual([id]);
  });

  testOnBoth(
    'two processes that claim at the same time never share a domain and leave none',
    async () => {
      const waiting = [];
      for (let n = 0; n < 60; n++) waiting.push(await due(-n));
      const processes = [domains, stores.secondProcess.domains];
      const given: string[] = [];
      for (let last = -1; last < given.length;) {
        last = given.length;
        const { won, lost } = await race(10, (n) => claim(0, 3, processes[n % 2]));
        expect(lost).toEqual([]);
        given.push(...idsOf(won.flat()));
      }
      expect(given.toSorted()).toEqual(idsOf(waiting).toSorted());
    },
  );

  test('stored records do not change when callers change their copies', async () => {
    const held = await due(0);
    const kept = structuredClone(held);
    const leaseUntil = later(lease);
    scribble(await domains.claimDue(later(0), leaseUntil, 1000));
    scribble(leaseUntil);
    expect(await claim(lease - 1)).toEqual([]);
    expect(await claim(lease)).toEqual([kept]);
  });

  testOnBoth(
    'live domains are listed page by page, each once, in the order of their ids',
    async () => {
      await due(0);
      const removed = await liveDomain(stores, project);
      const live = [];
      for (let n = 0; n < 5; n++) live.push(await liveDomain(stores, project));
      await domains.change(removed.id, remove);
      const pages: (readonly CustomDomain[])[] = [];
      for (let after = ''; ; after = pages.at(-1)?.at(-1)?.id ?? after) {
        const page = await stores.secondProcess.domains.inState('live', after, 2);
        if (page.length === 0) break;
        pages.push(page);
      }
      expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
      expect(pages.flat()).toEqual(live.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    },
  );

  testOnBoth('domains are counted by their states, over all accounts', async () => {
    const before = await domains.countByState();
    await due(0);
    const removed = await liveDomain(stores, project);
    await liveDomain(stores, project);
    await domains.change(removed.id, remove);
    const { added, verified, live, removed: gone } = before;
    expect(await stores.secondProcess.domains.countByState()).toEqual({
      ...{ added: added + 1, verified, live: live + 1, removed: gone + 1 },
    });
  });
};
