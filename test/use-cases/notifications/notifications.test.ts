import { beforeEach, describe, expect, test } from '@jest/globals';
import { KnownRecipients } from '../../../src/app/known-recipients.ts';
import type { WatchedDomain } from '../../../src/notifications/domain/watched-domain.ts';
import { notifications, type Notifications } from '../../../src/notifications/notifications.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { now } from '../../support/accounts.ts';
import type { Stores } from '../../support/stores.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';
import { day, hour, watchedDomain } from '../../support/watched-domain.ts';

const never = () => false;

const open = storesOfTests();
let ports: Stores;
let clock: SettableClock;
let face: Notifications;
let domains: Map<string, WatchedDomain>;
let live: Set<string>;
/** Runs before a domain is read. */
let meanwhile: () => Promise<void>;
beforeEach(async () => {
  ports = await open();
  clock = new SettableClock(now);
  domains = new Map();
  live = new Set();
  meanwhile = () => Promise.resolve();
  face = notifications({
    ...{ notices: ports.notices, watches: ports.watches, clock },
    domains: {
      find: async (id) => {
        await meanwhile();
        if (id === 'dom_broken') throw new Error('cannot be read');
        return domains.get(id);
      },
      live: (after, limit) => {
        const ids = [...live].filter((id) => id > after);
        return Promise.resolve(ids.sort().slice(0, limit));
      },
    },
    ...{ mails: ports.mails, mailChoices: ports.mailChoices, postman: undefined },
    recipients: new KnownRecipients(ports.people, ports.accounts),
    sealer: mustNotBeUsed('sealer'),
  });
});

const told = async () =>
  (await ports.events()).map(({ type, accountId }) => `${accountId} ${type}`);
const failing = (id: string) => {
  const certificate = { failed: 3, validity: undefined };
  domains.set(id, { ...watchedDomain({ certificate }), id, accountId: `acct_of_${id}` });
};

describe('live domains that nobody has looked at', () => {
  const manyFailing = (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const id = `dom_${String(n).padStart(4, '0')}`;
      failing(id);
      live.add(id);
    }
  };

  test('are looked at once, a bounded number in each run, and one that cannot be read holds up no other', async () => {
    manyFailing(2500);
    live.add('dom_0_broken').add('dom_broken');
    await expect(face.dueWatches.watchDue(never)).resolves.toBeUndefined();
    expect(await told()).toHaveLength(1999);
    await expect(face.dueWatches.watchDue(never)).rejects.toThrow('cannot be read');
    expect(new Set(await told()).size).toBe(2500);
    await face.dueWatches.watchDue(never);
    expect(await told()).toHaveLength(2500);
  });

  test('are looked for again a day after the last one was found, and not before', async () => {
    await face.dueWatches.watchDue(never);
    manyFailing(1);
    clock.advance(day - hour);
    await face.dueWatches.watchDue(never);
    expect(await told()).toEqual([]);
    clock.advance(hour);
    await face.dueWatches.watchDue(never);
    expect(await told()).toEqual(['acct_of_dom_0000 certificate_failing']);
  });

  test('are left for the next process by one that stops', async () => {
    manyFailing(1);
    await face.dueWatches.watchDue(() => true);
    expect(await told()).toEqual([]);
  });
});

describe('domains that are due', () => {
  test('are looked at, though one of them cannot be read', async () => {
    for (const id of ['dom_a', 'dom_broken', 'dom_c']) {
      const memory = { kind: 'domain', overSince: undefined } as const;
      const nothing = { ...memory, straying: undefined, failing: undefined };
      await ports.watches.save(`domain:${id}`, undefined, {
        ...{ memory: nothing, events: [], lookAt: now },
      });
      failing(id);
    }
    await expect(face.dueWatches.watchDue(never)).rejects.toThrow('cannot be read');
    expect(await told()).toEqual([
      ...['acct_of_dom_a certificate_failing', 'acct_of_dom_c certificate_failing'],
    ]);
  });

  test('are left for the next process by one that stops', async () => {
    failing('dom_a');
    await face.watchDomain('dom_a');
    clock.advance(3 * day);
    await face.dueWatches.watchDue(() => true);
    expect(await told()).toHaveLength(1);
    await face.dueWatches.watchDue(never);
    expect(await told()).toHaveLength(2);
  });

  test('are forgotten an hour after their removal', async () => {
    failing('dom_a');
    await face.watchDomain('dom_a');
    domains.set('dom_a', { ...watchedDomain({ isAttached: false }), id: 'dom_a' });
    await face.watchDomain('dom_a');
    expect(await ports.watches.get('domain:dom_a')).toBeDefined();
    clock.advance(hour);
    await face.dueWatches.watchDue(never);
    expect(await ports.watches.get('domain:dom_a')).toBeUndefined();
    expect(await told()).toHaveLength(1);
  });
});

test('a look that began before the removal of a domain tells nothing after it', async () => {
  failing('dom_a');
  const removal = watchedDomain({ isAttached: false });
  let isFirst = true;
  meanwhile = async () => {
    if (!isFirst) return;
    isFirst = false;
    const stale = domains.get('dom_a')!;
    domains.set('dom_a', { ...removal, id: 'dom_a' });
    await face.watchDomain('dom_a');
    domains.set('dom_a', stale);
    meanwhile = () => Promise.resolve(void domains.set('dom_a', { ...removal, id: 'dom_a' }));
  };
  await face.watchDomain('dom_a');
  expect(await told()).toEqual([]);
});

test('a domain that never was is not remembered', async () => {
  await face.watchDomain('dom_nobody');
  expect(await ports.watches.get('domain:dom_nobody')).toBeUndefined();
});
