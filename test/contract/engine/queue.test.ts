import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import { unchanged } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { later } from '../../support/accounts.ts';
import {
  liveDomain,
  newDomain,
  remove,
  servedProject,
  verify,
} from '../../support/domains/custom-domains.ts';
import { openDatabase } from '../../support/servers/databases.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import { queueContract, waitingKinds } from './queue.contract.ts';

describeStores('the queue of deliveries of events', (stores) => {
  queueContract(stores, waitingKinds.deliveries);
});

describeStores('the queue of mails', (stores) => {
  queueContract(stores, waitingKinds.mails);
});

describeStores('the queue of deliveries to webhooks', (stores) => {
  queueContract(stores, waitingKinds.webhookDeliveries);
});

describeStores('the queue of domains', (stores) => {
  queueContract(stores, waitingKinds.domains);
});

let database: Database;

describeStores(
  'due domains',
  (stores) => {
    let project: Project;
    beforeAll(async () => {
      project = await servedProject(stores);
    });
    afterAll(() => database.close());

    const claim = (at: number) =>
      stores.dueDomains.claim(later(at), later(at + 1000), { limit: 100 });
    const checkAt = (id: string, at: number | undefined) =>
      stores.domains.change(id, (one) => {
        const nextCheckAt = at === undefined ? undefined : later(at);
        return unchanged({ ...one, dns: { ...one.dns, nextCheckAt } });
      });
    const due = async (at: number | undefined) => {
      const { id } = await newDomain(stores, project);
      return (await checkAt(id, at)).state;
    };

    testOnBoth(
      'have their stored state when they are claimed, and can be released by their holder',
      async () => {
        const one = await due(0);
        const [held] = await claim(0);
        expect(held).toEqual({ id: one.id, claim: held?.claim, domain: one });
        await stores.dueDomains.done([{ id: one.id, claim: 'claim_of_nobody' }]);
        expect(await claim(0)).toEqual([]);
        await stores.dueDomains.done([held!, held!, { id: 'dom_nobodys', claim: held!.claim }]);
        expect(await claim(0)).toMatchObject([{ id: one.id }]);
        await stores.domains.change(one.id, remove);
      },
    );

    test('include domains whose certificate is due, but no removed domain', async () => {
      const { id } = await due(undefined);
      expect(await claim(1)).toEqual([]);
      await stores.domains.change(id, verify);
      expect(await claim(1)).toMatchObject([{ id }]);
      await stores.domains.change(id, remove);
      expect(await claim(1e6)).toEqual([]);
      expect(await stores.dueDomains.nextDueAt()).toBeUndefined();
    });

    test('stay claimed after a change, which takes effect once they are released', async () => {
      const { id } = await due(0);
      const held = await claim(0);
      await checkAt(id, 5);
      expect(await claim(5)).toEqual([]);
      await stores.dueDomains.done(held);
      expect(await claim(4)).toEqual([]);
      expect(await claim(5)).toMatchObject([{ id }]);
      await stores.domains.change(id, remove);
    });

    test('are no longer claimed once removed, even if their worker died', async () => {
      const { id } = await due(0);
      expect(await claim(0)).toMatchObject([{ id }]);
      await stores.domains.change(id, remove);
      const claimed = database.db.selectFrom('domains').select('id').where('claim', '>', '');
      expect(await claimed.execute()).toEqual([]);
    });

    test('keep a prolonged lease only for its holder', async () => {
      const [held, other] = [await due(-1), await due(0)];
      const [ours] = await stores.dueDomains.claim(later(0), later(1000), { limit: 1 });
      await stores.dueDomains.prolong([ours!, { id: other.id, claim: ours!.claim }], later(3000));
      await stores.dueDomains.prolong([], later(9000));
      expect(await claim(1000)).toMatchObject([{ id: other.id }]);
      expect(await stores.dueDomains.nextDueAt()).toEqual(later(2000));
      expect(await claim(3000)).toMatchObject([{ id: held.id }, { id: other.id }]);
      await stores.dueDomains.prolong([ours!], later(9000));
      expect(await stores.dueDomains.nextDueAt()).toEqual(later(4000));
      for (const { id } of [held, other]) await stores.domains.change(id, remove);
    });

    testOnBoth('live domains are listed page by page, ordered by id', async () => {
      await due(0);
      const live = [];
      for (let n = 0; n < 5; n++) live.push(await liveDomain(stores, project));
      const pages = [];
      for (let after = ''; ; after = pages.at(-1)?.at(-1)?.id ?? after) {
        const page = await stores.secondProcess.domains.inState('live', after, 2);
        if (page.length === 0) break;
        pages.push(page);
      }
      expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
      expect(pages.flat()).toEqual(live.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    });

    testOnBoth('domains are counted by state, over all accounts', async () => {
      const before = await stores.domains.countByState();
      await due(0);
      const removed = await liveDomain(stores, project);
      await liveDomain(stores, project);
      await stores.domains.change(removed.id, remove);
      const { added, verified, live, removed: gone } = before;
      expect(await stores.secondProcess.domains.countByState()).toEqual({
        added: added + 1,
        verified,
        live: live + 1,
        removed: gone + 1,
      });
    });
  },
  { onOpened: (url) => (database = openDatabase(url)) },
);
