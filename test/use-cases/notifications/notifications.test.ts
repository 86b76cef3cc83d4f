import { beforeEach, describe, expect, test } from '@jest/globals';
import { KnownRecipients } from '../../../src/app/known-recipients.ts';
import { removalSteps } from '../../../src/notifications/domain/removal-watch.ts';
import type { WatchedDomain } from '../../../src/notifications/domain/watched-domain.ts';
import { notifications, type Notifications } from '../../../src/notifications/notifications.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { later, now } from '../../support/accounts.ts';
import type { Stores } from '../../support/stores.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';
import { day, hour, watchedDomain } from '../../support/watched-domain.ts';

const removedAt = later(100 * day);
const never = () => false;

const open = storesOfTests();
let ports: Stores;
let clock: SettableClock;
let face: Notifications;
let domains: Map<string, WatchedDomain>;
let calls: Set<string>;
/** Runs before a domain is read. */
let meanwhile: () => Promise<void>;
beforeEach(async () => {
  ports = await open();
  clock = new SettableClock(now);
  domains = new Map();
  calls = new Set();
  meanwhile = () => Promise.resolve();
  face = notifications({
    ...{ notices: ports.notices, watches: ports.watches, clock },
    domains: {
      find: async (id) => {
        await meanwhile();
        if (id === 'dom_broken') throw new Error('cannot be read');
        return domains.get(id);
      },
    },
    callers: {
      accounts: () => Promise.resolve(['acct_1', 'acct_2']),
      stillCalls: (accountId) => Promise.resolve(calls.has(accountId)),
    },
    endings: [{ operation: 'getPet', removedAt }],
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
      ...['acct_of_dom_a certificate_found_failing', 'acct_of_dom_c certificate_found_failing'],
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

test('an account that still calls an operation is told at each step before its removal', async () => {
  const days: number[] = [];
  calls.add('acct_2');
  for (let elapsed = 0; elapsed <= 102; elapsed += 1) {
    const before = (await told()).length;
    await face.watchRemovals(never);
    if ((await told()).length > before) days.push(100 - elapsed);
    clock.advance(day);
  }
  expect(days).toEqual(removalSteps.toReversed());
  expect(new Set(await told())).toEqual(new Set(['acct_2 operation_removal_neared']));
});

test('what was told of an operation is forgotten a day after its removal', async () => {
  const subject = 'removal:acct_1:getPet';
  calls.add('acct_1');
  clock.advance(99 * day);
  await face.watchRemovals(never);
  clock.advance(2 * day - 1);
  await face.dueWatches.watchDue(never);
  expect(await ports.watches.get(subject)).toBeDefined();
  clock.advance(1);
  await face.dueWatches.watchDue(never);
  expect(await ports.watches.get(subject)).toBeUndefined();
  await face.watchRemovals(never);
  expect(await told()).toHaveLength(1);
});

test('an account that calls it again later is told then', async () => {
  clock.advance(40 * day);
  await face.watchRemovals(never);
  expect(await told()).toEqual([]);
  calls.add('acct_1');
  await face.watchRemovals(never);
  await face.watchRemovals(never);
  expect(await ports.events()).toMatchObject([{ accountId: 'acct_1', days: 60 }]);
});

test('twenty processes that report the same use of the day lead to one event', async () => {
  const use = { level: 'reached', used: 10, limit: 10, resetsAt: later(day) } as const;
  await Promise.all(
    Array.from({ length: 20 }, () => face.watchQuota({ accountId: 'acct_1', ...use })),
  );
  expect(await told()).toEqual(['acct_1 quota_used_up']);
});
