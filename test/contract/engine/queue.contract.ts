import { beforeEach, expect } from '@jest/globals';
import { unchanged } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { Claimed, Most, Queue } from '../../../src/kernel/queue.ts';
import { later, newAccount } from '../../support/accounts.ts';
import { newDomain, servedProject } from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import type { StoragePorts } from '../../support/storage-ports.ts';
import { testOnBoth } from '../../support/store-contracts.ts';
import type { Stores } from '../../support/stores.ts';
import { allDue, storedWebhook } from '../../support/webhooks/stored-webhook.ts';

const lease = 60_000;
/** Items of earlier tests are claimed until then. */
const never = later(8e12);

/** One kind of waiting work. */
interface Waiting<Item extends Claimed = Claimed, Wanted = Most> {
  /** Adds an item that is due then. An event is always due at once. @returns its name */
  readonly add: (at: number) => Promise<string>;
  readonly queueOf: (ports: StoragePorts) => Queue<Item, Wanted>;
  readonly wanting: (limit: number) => Wanted;
  readonly nameOf: (item: Item) => string;
}

let added = 0;
const newName = () => `evt_queue_${String((added += 1)).padStart(5, '0')}`;
const most = (limit: number): Most => ({ limit });

const deliveries = async (stores: Stores) => {
  const accountId = await newAccount(stores);
  return {
    add: async () => {
      const type = newName();
      await stores.happen({ type, accountId, occurredAt: later(0) });
      return type;
    },
    queueOf: ({ outbox }) => outbox,
    wanting: most,
    nameOf: ({ stored }) => stored.event.type,
  } satisfies Waiting<Awaited<ReturnType<StoragePorts['outbox']['claim']>>[number]>;
};

const mails = async (stores: Stores) => {
  const accountId = await newAccount(stores);
  const personId = (await stores.people.list(accountId))[0]!.id;
  const about = { keyId: 'key_1', name: 'Till', until: '2026-03-01' };
  return {
    add: async (at) => {
      const mail = { id: newName(), accountId, personId, to: 'keeper@zoo.example' };
      const told = { kind: 'key.banned', about, occurredAt: later(0) } as const;
      const plan = () => ({ message: mail.id, sendAt: later(at) });
      await stores.mails.add({ ...mail, ...told }, later(0), plan);
      return mail.id;
    },
    queueOf: (ports) => ports.mails,
    wanting: most,
    nameOf: ({ id }) => id,
  } satisfies Waiting;
};

const webhookDeliveries = async (stores: Stores) => {
  const accountId = await newAccount(stores);
  const webhook = await storedWebhook(stores.webhooks, accountId);
  return {
    add: async (at) => {
      const message = { accountId, id: newName(), type: 'key.banned', body: '{}' };
      await stores.webhookDeliveries.add(message, [webhook], later(at));
      return message.id;
    },
    queueOf: (ports) => ports.webhookDeliveries,
    wanting: (limit) => ({ ...allDue, choose: (due) => due.slice(0, limit) }),
    nameOf: ({ delivery }) => delivery.messageId,
  } satisfies Waiting<
    Awaited<ReturnType<StoragePorts['webhookDeliveries']['claim']>>[number],
    typeof allDue
  >;
};

const domains = async (stores: Stores) => {
  const project = await servedProject(stores);
  return {
    add: async (at) => {
      const { id } = await newDomain(stores, project);
      await stores.domains.change(id, (one) =>
        unchanged({ ...one, dns: { ...one.dns, nextCheckAt: later(at) } }),
      );
      return id;
    },
    queueOf: ({ dueDomains }) => dueDomains,
    wanting: most,
    nameOf: ({ id }) => id,
  } satisfies Waiting;
};

export const waitingKinds = { deliveries, mails, webhookDeliveries, domains };

/** All kinds of waiting work in the database are claimed in the same way. */
export const queueContract = <Item extends Claimed, Wanted>(
  stores: Stores,
  prepare: (stores: Stores) => Promise<Waiting<Item, Wanted>>,
): void => {
  let waiting: Waiting<Item, Wanted>;
  let queue: Queue<Item, Wanted>;
  beforeEach(async () => {
    waiting = await prepare(stores);
    queue = waiting.queueOf(stores);
    await queue.claim(later(7e12), never, waiting.wanting(1000));
  });

  const claim = (at = 0, limit = 100, from: StoragePorts = stores) =>
    waiting.queueOf(from).claim(later(at), later(at + lease), waiting.wanting(limit));
  const namesOf = (items: readonly Item[]) => items.map((item) => waiting.nameOf(item)).toSorted();
  const addAll = async (...times: readonly number[]): Promise<readonly string[]> => {
    const names = [];
    for (const at of times) names.push(await waiting.add(at));
    return names;
  };
  /** When the next item is due, unless all remaining items are of earlier tests. */
  const nextDueAt = async () => {
    const at = await queue.nextDueAt();
    return at && at < never ? at : undefined;
  };

  testOnBoth('due items are claimed once, the longest waiting first', async () => {
    const [first, second, third] = await addAll(-3, -2, -1);
    expect(namesOf(await claim(0, 1))).toEqual([first]);
    expect(namesOf(await claim(0, 1))).toEqual([second]);
    expect(namesOf(await claim())).toEqual([third]);
    expect(await claim()).toEqual([]);
  });

  testOnBoth(
    'an item that another process holds can be claimed only after its lease ends',
    async () => {
      const names = (await addAll(-1, 0)).toSorted();
      const held = await claim();
      expect(namesOf(held)).toEqual(names);
      expect(await claim(lease - 1, 100, stores.secondProcess)).toEqual([]);
      const taken = await claim(lease, 100, stores.secondProcess);
      expect(namesOf(taken)).toEqual(names);
      expect(taken[0]?.claim).not.toBe(held[0]?.claim);
      expect(await claim(lease)).toEqual([]);
    },
  );

  testOnBoth('the time of the next item that waits or is claimed is known', async () => {
    expect(await nextDueAt()).toBeUndefined();
    await addAll(-2, -1);
    expect((await nextDueAt())!.getTime()).toBeLessThanOrEqual(later(-2).getTime());
    await claim(0, 1);
    expect((await nextDueAt())!.getTime()).toBeLessThanOrEqual(later(-1).getTime());
    await claim(5);
    expect(await nextDueAt()).toEqual(later(lease));
  });

  testOnBoth('two processes that claim at the same time share no item and leave none', async () => {
    const names = await addAll(...Array.from({ length: 60 }, (_, n) => -n));
    const given: Item[] = [];
    for (let last = -1; last < given.length;) {
      last = given.length;
      const { won, lost } = await race(10, (n) =>
        claim(0, 3, n % 2 === 0 ? stores : stores.secondProcess),
      );
      expect(lost).toEqual([]);
      given.push(...won.flat());
    }
    expect(namesOf(given)).toEqual(names.toSorted());
  });
};
