import { beforeEach, expect } from '@jest/globals';
import type {
  Notification,
  NotificationKind,
  NotificationContent,
} from '../../../src/notifications/domain/notification.ts';
import type { Reader } from '../../../src/notifications/ports.ts';
import { later, newAccount, personDecision, takeEvents } from '../../support/accounts.ts';
import { everyKind } from '../../support/notifications.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const day = 86_400_000;

describeStores('notices', (stores) => {
  const { notices } = stores;
  let accountId: string;
  let reader: Reader;
  let next = 0;
  beforeEach(async () => {
    accountId = await newAccount(stores);
    reader = await readerOf(accountId);
  });

  const readerOf = async (of: string): Promise<Reader> => {
    const [person] = await stores.people.list(of);
    return { accountId: of, personId: person!.id };
  };
  const notice = (draft: Partial<Pick<Notification, 'accountId' | 'occurredAt'>> = {}) =>
    of(
      {
        kind: 'key.banned',
        about: { keyId: 'key_1', name: 'Till', until: later(0).toISOString() },
      },
      draft,
    );
  const of = (told: NotificationContent, draft: Partial<Notification> = {}): Notification => ({
    id: `evt_${(next += 1)}`,
    accountId,
    occurredAt: later(0),
    ...(draft as object),
    ...told,
  });
  const idsOf = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id);

  testOnBoth.each(everyKind())(
    'a notice of the kind $kind is read back unchanged',
    async (told) => {
      const added = of(told);
      await notices.add(added);
      const place: unknown = expect.any(BigInt);
      expect(await notices.list(accountId, 10)).toEqual([{ ...added, place }]);
    },
  );

  testOnBoth('the newest notices come first, a page at a time', async () => {
    const all = Array.from({ length: 5 }, () => notice());
    for (const one of all) await notices.add(one);
    const ids = idsOf(all).toReversed();
    const first = await notices.list(accountId, 2);
    expect(idsOf(first)).toEqual(ids.slice(0, 2));
    expect(idsOf(await notices.list(accountId, 10, first[1]!.place))).toEqual(ids.slice(2));
    expect(await notices.newest(accountId)).toBe(first[0]!.place);
  });

  testOnBoth('when twenty requests add the same notice, it is added once', async () => {
    const one = notice();
    expect((await race(20, () => notices.add(one))).lost).toEqual([]);
    await stores.secondProcess.notices.add(one);
    expect(idsOf(await notices.list(accountId, 10))).toEqual([one.id]);
    expect(await notices.unread(reader, 10)).toBe(1);
  });

  test('an account sees only its own notices', async () => {
    const other = await newAccount(stores);
    await notices.add(notice({ accountId: other }));
    expect(await notices.list(accountId, 10)).toEqual([]);
    expect(await notices.newest(accountId)).toBe(0n);
    expect(await notices.unread(reader, 10)).toBe(0);
    const stranger = { ...reader, accountId: other };
    expect(await notices.unread(stranger, 10)).toBe(0);
    await notices.markSeen(stranger, 10_000n);
    await notices.add(notice());
    expect(await notices.unread(reader, 10)).toBe(1);
    expect(await notices.unread(stranger, 10)).toBe(0);
  });

  testOnBoth(
    "a person's own action is not unread for them, except that a domain went live or is contested",
    async () => {
      const colleague = personDecision(accountId);
      await stores.people.add(colleague);
      const [person] = await stores.people.list(accountId);
      const readers = [reader, { accountId, personId: colleague.state.id }];
      /** @returns the number of new unread notices, for the person who caused them and for another person */
      const unreadAfter = async (type: string, kind: NotificationKind) => {
        await takeEvents(stores);
        const event = { type, accountId, occurredAt: later(0) };
        await stores.acting.run(`person:${person!.email}`, () => stores.happen(event));
        const [delivery] = await stores.outbox.claim(later(0), later(1), { limit: 10 });
        const told = everyKind().find((one) => one.kind === kind)!;
        await notices.add(of(told, { id: delivery!.stored.id }));
        const counts = await Promise.all(readers.map((one) => notices.unread(one, 10)));
        for (const one of readers) await notices.markSeen(one, await notices.newest(accountId));
        return counts;
      };
      expect(await unreadAfter('domain_removed', 'domain.removed')).toEqual([0, 1]);
      expect(await unreadAfter('domain_live', 'domain.live')).toEqual([1, 1]);
      expect(await unreadAfter('domain_removed', 'domain.contested')).toEqual([1, 1]);
    },
  );

  test('each person has their own count of unread notices, up to a limit', async () => {
    const colleague = personDecision(accountId);
    await stores.people.add(colleague);
    for (let n = 0; n < 5; n += 1) await notices.add(notice());
    expect(await notices.unread(reader, 10)).toBe(5);
    expect(await notices.unread(reader, 3)).toBe(3);
    expect(await notices.markSeen(reader, await notices.newest(accountId))).toBe(0n);
    expect(await notices.unread(reader, 10)).toBe(0);
    expect(await notices.unread({ accountId, personId: colleague.state.id }, 10)).toBe(5);
    await notices.add(notice());
    expect(await notices.unread(reader, 10)).toBe(1);
  });

  test('a notice that was seen stays seen, even when an older request arrives late', async () => {
    await notices.add(notice());
    await notices.add(notice());
    const [newest, older] = await notices.list(accountId, 2);
    await notices.markSeen(reader, newest!.place);
    expect(await notices.markSeen(reader, older!.place)).toBe(newest!.place);
    expect(await notices.unread(reader, 10)).toBe(0);
  });

  test('a notice for an account that does not exist is refused', async () => {
    await expect(notices.add(notice({ accountId: 'acct_nobody' }))).rejects.toThrow();
  });

  testOnBoth('old notices are deleted, and newer ones stay unread', async () => {
    const [old, young] = [notice(), notice({ occurredAt: later(day) })];
    await notices.add(old);
    await notices.markSeen(reader, await notices.newest(accountId));
    await notices.add(young);
    await stores.retention.sweep('notices', later(day));
    expect(idsOf(await notices.list(accountId, 10))).toEqual([young.id]);
    await stores.retention.sweep('notices', later(2 * day));
    await notices.add(notice());
    expect(await notices.unread(reader, 10)).toBe(1);
  });
});
