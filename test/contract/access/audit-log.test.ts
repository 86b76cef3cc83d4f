import { beforeAll, beforeEach, expect } from '@jest/globals';
import type { AccessEvent } from '../../../src/access/domain/access-event.ts';
import type { AuditEntry, AuditSearch } from '../../../src/access/ports.ts';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { hiddenTypes } from '../../../src/app/subscriptions.ts';
import type { Actor } from '../../../src/kernel/ports.ts';
import type { DomainEvent } from '../../../src/kernel/decision.ts';
import { later, newAccount, takeEvents } from '../../support/accounts.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const ids = new UuidIds();

describeStores('the audit log', (stores) => {
  const { auditLog } = stores;
  let changed: string;
  let account: string;
  beforeAll(async () => {
    changed = await newAccount(stores);
  });
  beforeEach(() => {
    account = ids.next('acct');
  });

  const happened = (type: string, occurredAt: Date, details = {}): DomainEvent => ({
    type,
    accountId: account,
    occurredAt,
    ...details,
  });
  /** Stores the events together with a change of an account. */
  const store = (events: readonly DomainEvent[], actor: Actor = 'service') =>
    stores.acting.run(actor, () =>
      stores.accounts.change(changed, (state) => ({ state, events: events as AccessEvent[] })),
    );
  const entry = (
    { type: what, accountId, occurredAt, ...details }: DomainEvent,
    actor = 'service',
  ) => ({ id: expect.any(String), accountId, actor, what, occurredAt, details });

  test('an entry names the event, its time and the things that it affected', async () => {
    const details = { petId: '9223372036854775807', slug: 'zoë’s "birds" 🐦', perDay: 1e9 };
    const event = happened('pet_sold', later(0.5), details);
    await store([event]);
    expect(await auditLog.list(account, 10)).toEqual([entry(event)]);
  });

  test.each([
    'service',
    'operator',
    'key:key_01a1fe82faed7179a34f42a8b7963a3c',
    `person:${'é'.repeat(240)}@shop.example`,
  ] as const)('an entry names the actor: %s', async (actor) => {
    const event = happened('pet_sold', later(0));
    await store([event], actor);
    expect(await auditLog.list(account, 10)).toEqual([entry(event, actor)]);
  });

  testOnBoth(
    'the newest entries come first, and entries of the same time are ordered by id',
    async () => {
      const [a, b] = [happened('pet_added', later(5)), happened('pet_sold', later(5))];
      const [old, young] = [happened('pet_added', later(1)), happened('pet_sold', later(9))];
      for (const event of [a, young, old, b]) await store([event]);
      const expected = [young, b, a, old].map((event) => entry(event));
      expect(await auditLog.list(account, 10)).toEqual(expected);
      expect(await auditLog.list(account, 2)).toEqual(expected.slice(0, 2));
    },
  );

  testOnBoth(
    'paging back returns each entry once, even when several have the same time',
    async () => {
      const moments = [5, 1, 5, 9, 5, 1, 5].map((at) => happened('pet_changed', later(at)));
      await store(moments);
      const all = await auditLog.list(account, 10);
      expect(all).toHaveLength(7);
      for (const size of [1, 2, 3]) {
        const walked: AuditEntry[] = [];
        while (walked.length < 7) {
          const page = await auditLog.list(account, size, { before: walked.at(-1) });
          expect(page).toEqual(all.slice(walked.length, walked.length + size));
          walked.push(...page);
        }
        expect(await auditLog.list(account, size, { before: walked.at(-1) })).toEqual([]);
      }
    },
  );

  test('paging back can begin at any time, and shows only this account', async () => {
    const [old, young] = [happened('pet_added', later(1)), happened('pet_sold', later(9))];
    await store([old, young]);
    const between = { before: { id: 'evt_', occurredAt: later(5) } };
    expect(await auditLog.list(account, 10, between)).toEqual([entry(old)]);
    expect(await auditLog.list(ids.next('acct'), 10, between)).toEqual([]);
  });

  test('entries can be filtered by actor and by topic, page by page', async () => {
    const key = 'key:key_01a1fe82faed7179a34f42a8b7963a3c';
    const kinds = ['pet_sold', 'pet_added', 'pet_sold', 'plan_changed'];
    const events = kinds.map((what, at) => happened(what, later(at % 3)));
    for (const actor of [key, 'service', 'operator'] as const) await store(events, actor);
    const all = await auditLog.list(account, 100);
    expect(all).toHaveLength(12);
    for (const actor of [undefined, key, 'service', 'operator', 'person:nobody@zoo.example']) {
      for (const kinds of [undefined, ['pet_sold'], ['plan_changed', 'pet_sold', 'nothing'], []]) {
        const expected = all
          .filter((one) => actor === undefined || one.actor === actor)
          .filter((one) => !kinds || kinds.includes(one.what));
        expect(await auditLog.list(account, 100, { actor, kinds })).toEqual(expected);
        const walked: AuditEntry[] = [];
        while (walked.length < expected.length) {
          const search = { actor, kinds, before: walked.at(-1) };
          const page = await auditLog.list(account, 2, search);
          expect(page).toEqual(expected.slice(walked.length, walked.length + 2));
          walked.push(...page);
        }
      }
    }
    expect(await auditLog.list(ids.next('acct'), 10, { actor: key })).toEqual([]);
  });

  testOnBoth('entries can be filtered by the thing that they affected, and by time', async () => {
    const about = [{ petId: '7' }, { orderId: '7' }, { petId: '8' }, { keyId: '7' }];
    const events = about.map((one, at) => happened('pet_sold', later(at), one));
    await store(events);
    const [ofPet, ofOrder, other, none] = events.map((event) => entry(event));
    const listed = (search: AuditSearch) => auditLog.list(account, 10, search);
    expect(await listed({ about: [{ petId: '7' }] })).toEqual([ofPet]);
    expect(await listed({ about: [{ petId: '7' }, { orderId: '7' }] })).toEqual([ofOrder, ofPet]);
    expect(await listed({ about: [{ petId: '9' }] })).toEqual([]);
    expect(await listed({ since: later(2) })).toEqual([none, other]);
    expect(await listed({ since: later(1), until: later(2) })).toEqual([ofOrder]);
    expect(await listed({ until: later(1), kinds: ['pet_sold'] })).toEqual([ofPet]);
    expect(await auditLog.list(ids.next('acct'), 10, { about: [{ petId: '7' }] })).toEqual([]);
  });

  test("another account's entries are not listed", async () => {
    await store([happened('pet_sold', later(0))]);
    expect(await auditLog.list(ids.next('acct'), 10)).toEqual([]);
    expect(await auditLog.list(account.toUpperCase(), 10)).toEqual([]);
  });

  test('events that the log hides are neither listed nor counted as entries', async () => {
    const [first, last] = [happened('pet_added', later(0)), happened('pet_sold', later(2))];
    await store([first, ...hiddenTypes.map((type) => happened(type, later(1))), last]);
    expect(await auditLog.list(account, 2)).toEqual([entry(last), entry(first)]);
    expect(await auditLog.list(account, 10, { kinds: [...hiddenTypes, 'pet_added'] })).toEqual([
      entry(first),
    ]);
    expect(await auditLog.list(account, 10, { kinds: hiddenTypes })).toEqual([]);
  });

  test('an entry stays after its event was delivered to all subscribers', async () => {
    const event = happened('plan_changed', later(0));
    await store([event]);
    await takeEvents(stores);
    await stores.retention.sweep('events', later(1e12));
    expect(await auditLog.list(account, 10)).toEqual([entry(event)]);
  });
});
