import { beforeEach, expect, test } from '@jest/globals';
import type { Mail, PlannedMail } from '../../../src/notifications/domain/mail.ts';
import type { NotificationContent } from '../../../src/notifications/domain/notification.ts';
import type { DueMessage } from '../../../src/notifications/ports.ts';
import { later, newAccount, personDecision, takeEvents } from '../../support/accounts.ts';
import { everyKind } from '../../support/notifications.ts';
import { race } from '../../support/race.ts';
import { describeStores, testOnBoth } from '../../support/store-contracts.ts';
import { openStores } from '../../support/stores.ts';
import { databaseKinds } from '../../support/servers/databases.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describeStores('mails', (stores) => {
  const { mails } = stores;
  let accountId: string;
  let personId: string;
  let next = 0;
  beforeEach(async () => {
    await finishAll();
    accountId = await newAccount(stores);
    personId = (await stores.people.list(accountId))[0]!.id;
  });

  const finishAll = async (): Promise<void> => {
    for (const one of await mails.claim(later(90 * day), later(91 * day), { limit: 100 })) {
      await mails.sent(one, later(90 * day));
    }
  };
  const about = { keyId: 'key_1', name: 'Till', until: '2026-03-01' };
  const banned: NotificationContent = { kind: 'key.banned', about };
  const mailOf = (told: NotificationContent = banned, draft: Partial<Mail> = {}): Mail => ({
    id: `evt_${String((next += 1)).padStart(4, '0')}`,
    accountId,
    personId,
    to: 'keeper@zoo.example',
    occurredAt: later(0),
    ...(draft as object),
    ...told,
  });
  const refusedWith = (reason: string) => ({ kind: 'refused', reason }) as const;
  const alone = (mail: Mail, at = later(0)) => {
    return mails.add(mail, at, () => ({ message: mail.id, sendAt: at }));
  };
  const idsOf = (messages: readonly DueMessage[]) => messages.map(({ id }) => id);
  const claim = (at = later(0), limit = 10) =>
    mails.claim(at, new Date(at.getTime() + minute), { limit });

  /** Claims these messages. */
  const claimed = async (...wanted: readonly Mail[]): Promise<readonly DueMessage[]> => {
    const due = await claim(later(hour), 100);
    return wanted.map(({ id }) => due.find((one) => one.id === id)!);
  };

  testOnBoth.each(everyKind())('a mail of the kind $kind is read back unchanged', async (told) => {
    const mail = mailOf(told);
    await alone(mail);
    const [message, ...others] = await claim();
    expect(message).toMatchObject({ id: mail.id, accountId, personId, attempts: 0, to: mail.to });
    expect(message?.tells()).toEqual([{ ...told, occurredAt: mail.occurredAt }]);
    expect(others).toEqual([]);
  });

  testOnBoth(
    'when twenty requests add the same mail, it is added once, and not again after it was sent',
    async () => {
      const mail = mailOf();
      expect((await race(20, () => alone(mail))).lost).toEqual([]);
      await stores.secondProcess.mails.add(mail, later(0), () => ({
        message: 'other',
        sendAt: later(0),
      }));
      const [message, ...others] = await claim();
      expect([message?.id, others]).toEqual([mail.id, []]);
      await mails.sent(message!, later(0));
      await alone(mail);
      expect(await claim(later(day))).toEqual([]);
    },
  );

  test('a mail that is skipped is recorded and never sent', async () => {
    const mail = mailOf();
    await mails.add(mail, later(0), () => undefined);
    await alone(mail);
    expect(await claim(later(day))).toEqual([]);
  });

  test('a mail can cancel another one that waits, and then neither is sent', async () => {
    const [waiting, cancelling, other] = [mailOf(), mailOf(), mailOf()];
    await alone(waiting, later(hour));
    await alone(other, later(hour));
    await mails.add(cancelling, later(0), () => ({ cancels: waiting.id }));
    await alone(cancelling);
    expect(idsOf(await claim(later(day)))).toEqual([other.id]);
    expect(await mails.troubles(accountId)).toEqual([]);
  });

  test('the mails of one message are claimed, tried and finished together', async () => {
    const [first, second] = [mailOf(banned, { occurredAt: later(2) }), mailOf()];
    for (const mail of [first, second]) {
      await mails.add(mail, later(0), () => ({ message: first.id, sendAt: later(0) }));
    }
    const [message, ...others] = await claim(later(0), 1);
    expect(others).toEqual([]);
    expect(message?.tells().map(({ occurredAt }) => occurredAt)).toEqual([later(0), later(2)]);
    await mails.retry(message!, later(minute), 'busy');
    expect(await claim(later(minute - 1))).toEqual([]);
    const [again] = await claim(later(minute));
    expect([again?.attempts, again?.tells().length]).toEqual([1, 2]);
    await mails.sent(again!, later(0));
    expect(await claim(later(day))).toEqual([]);
  });

  testOnBoth(
    'a late or repeated outcome changes nothing once somebody else has claimed the message',
    async () => {
      const mail = mailOf();
      await alone(mail);
      const [dead] = await claim();
      const [heir] = await claim(later(minute));
      await mails.retry(dead!, later(day), 'late');
      await mails.giveUp(dead!, later(minute), refusedWith('late'));
      await mails.sent(dead!, later(minute));
      await mails.leaveOut(dead!, later(minute));
      expect(await mails.troubles(accountId)).toEqual([]);
      expect(await claim(later(2 * minute - 1))).toEqual([]);
      await mails.retry(heir!, later(hour), 'busy');
      await mails.giveUp(heir!, later(hour), refusedWith('twice'));
      const [again] = await claim(later(hour));
      expect([again?.id, again?.attempts]).toEqual([mail.id, 1]);
      expect(await mails.troubles(accountId)).toEqual([]);
    },
  );

  test("the decision sees the person's mails of the last day, and whether one may still join", async () => {
    const known = async (): Promise<readonly PlannedMail[]> => {
      let before: readonly PlannedMail[] = [];
      await mails.add(mailOf(), later(day), (all) => {
        before = all;
        return undefined;
      });
      return before.toSorted((one, other) => (one.message < other.message ? -1 : 1));
    };
    const [old, waiting, begun, tried, done, refused] = Array.from({ length: 6 }, () => mailOf());
    await alone(old!, later(0));
    for (const mail of [begun, tried, done, refused]) await alone(mail!, later(1));
    const due = new Map((await claim(later(1))).map((one) => [one.id, one]));
    await mails.retry(due.get(tried!.id)!, later(day), 'busy');
    await mails.sent(due.get(done!.id)!, later(2));
    await mails.giveUp(due.get(refused!.id)!, later(2), refusedWith('no such user'));
    await alone(waiting!, later(3));
    const common = { kind: 'key.banned', subject: 'key_1', sendAt: later(1), isOpen: false };
    expect(await known()).toEqual([
      { ...common, message: waiting!.id, sendAt: later(3), isOpen: true },
      ...[begun, tried, done].map((mail) => ({ ...common, message: mail!.id })),
    ]);
  });

  test('a mail to a person of another account, or to nobody, is not added', async () => {
    const other = await newAccount(stores);
    await alone(mailOf(banned, { accountId: other }));
    await alone(mailOf(banned, { personId: 'pers_nobody' }));
    expect(await claim()).toEqual([]);
  });

  test('a removed person gets none of the waiting mails', async () => {
    const colleague = personDecision(accountId);
    await stores.people.add(colleague);
    await alone(mailOf(banned, { personId: colleague.state.id }));
    await stores.people.remove(accountId, colleague.state.id, () => []);
    await takeEvents(stores);
    expect(await claim()).toEqual([]);
  });

  test('a person counts as unreachable from the first refusal until a server accepts a message', async () => {
    const all = [mailOf(), mailOf(), mailOf(), mailOf()];
    for (const mail of all) await alone(mail);
    const [first, second] = await claim();
    await mails.giveUp(first!, later(1), refusedWith('no such user'));
    await mails.giveUp(second!, later(2), refusedWith('mailbox full'));
    const trouble = { personId, since: later(1), refusal: 'mailbox full' };
    expect(await mails.troubles(accountId)).toEqual([trouble]);
    expect(await mails.troubles(await newAccount(stores))).toEqual([]);
    const [third, ...others] = await claim(later(day - 1));
    expect(others).toHaveLength(1);
    await mails.sent(third!, later(3));
    expect(await mails.troubles(accountId)).toEqual([]);
    expect(idsOf(await claim(later(2 * day)))).toEqual(idsOf(others));
  });

  test('a mail that we could not send in time is not reported as a refusal, and our reason is not shown', async () => {
    const [first, second, third] = [mailOf(), mailOf(), mailOf()];
    for (const mail of [first, second, third]) await alone(mail);
    const [one, other, last] = await claimed(first, second, third);
    await mails.giveUp(one!, later(1), { kind: 'late', reason: 'ECONNREFUSED 10.0.0.5:587' });
    const trouble = { personId, since: later(1), refusal: undefined };
    expect(await mails.troubles(accountId)).toEqual([trouble]);
    await mails.giveUp(other!, later(2), refusedWith('no such user'));
    expect(await mails.troubles(accountId)).toEqual([{ ...trouble, refusal: 'no such user' }]);
    await mails.giveUp(last!, later(3), { kind: 'late', reason: 'away' });
    expect(await mails.troubles(accountId)).toEqual([trouble]);
  });

  test('a mail that is no longer wanted ends without a failure', async () => {
    const mail = mailOf();
    await alone(mail);
    await mails.leaveOut((await claimed(mail))[0]!, later(1));
    expect(await claim(later(day))).toEqual([]);
    expect(await mails.troubles(accountId)).toEqual([]);
  });

  test('a message has a time after which it is not sent', async () => {
    const link = everyKind().find(({ kind }) => kind === 'sign_in.link')!;
    const until = later(30 * minute);
    for (const mail of [mailOf(), mailOf({ ...link, about: { ...link.about, until } } as never)]) {
      await alone(mail, later(1));
    }
    const messages = await claim(later(1));
    expect(messages.map((one) => one.until.getTime()).sort()).toEqual(
      [until, later(1 + day + minute)].map(Number),
    );
  });

  test('the metrics count due mails, the age of the oldest, and unreachable people', async () => {
    const before = await mails.state(later(5));
    const [first, second, future] = [mailOf(), mailOf(), mailOf()];
    await alone(second, later(2));
    await alone(first, later(1));
    await alone(future, later(6));
    const { unreached } = before;
    expect(await mails.state(later(5))).toEqual({ waiting: 2, oldest: later(1), unreached });
    const [one, other] = await claimed(first, second);
    await mails.retry(one!, later(hour), 'busy');
    expect(await mails.state(later(5))).toEqual({ waiting: 2, oldest: later(1), unreached });
    const [again] = await claimed(first);
    await mails.giveUp(again!, later(3), refusedWith('no such user'));
    const left = { waiting: 1, oldest: later(2), unreached: unreached + 1 };
    expect(await mails.state(later(5))).toEqual(left);
    await mails.sent(other!, later(4));
    expect(await mails.state(later(5))).toEqual({ waiting: 0, oldest: undefined, unreached });
  });

  testOnBoth('old mails are deleted, even unfinished ones', async () => {
    await stores.retention.sweep('mails', later(100 * day));
    const [done, waiting, future] = [mailOf(), mailOf(), mailOf()];
    for (const mail of [done, waiting]) await alone(mail, later(1));
    await alone(future, later(2));
    const due = await claim(later(1));
    await mails.sent(
      due.find(({ id }) => id === done.id)!,
      later(5),
    );
    expect(await stores.retention.sweep('mails', later(1))).toBe(0);
    expect(await stores.retention.sweep('mails', later(2))).toBe(2);
    await alone(done);
    expect(idsOf(await claim(later(2 * minute))).sort()).toEqual([done.id, future.id]);
  });

  test('a person is recorded as unreachable by mail from the first refusal on', async () => {
    const mail = mailOf();
    await alone(mail);
    await mails.giveUp((await claimed(mail))[0]!, later(1), refusedWith('no such user'));
    expect(await mails.troubles(accountId)).toHaveLength(1);
  });
});

test.each(databaseKinds)(
  'workers on %s are notified of a new mail at once, and only once',
  async (kind) => {
    const heard: string[] = [];
    const stores = await openStores(kind, { onMail: (accountId) => heard.push(accountId) });
    const accountId = await newAccount(stores);
    const [person] = await stores.people.list(accountId);
    const about = { project: 'birds', number: 7, explanation: 'There is no index.html.' };
    const mail: Mail = {
      id: 'evt_1',
      accountId,
      personId: person!.id,
      to: person!.email,
      occurredAt: later(0),
      ...({ kind: 'deploy.failed', about } as const),
    };
    const plan = () => ({ message: mail.id, sendAt: later(0) });
    for (let times = 0; times < 2; times += 1) await stores.mails.add(mail, later(0), plan);
    await stores.mails.add({ ...mail, id: 'evt_2' }, later(0), () => undefined);
    expect(heard).toEqual([accountId]);
    await stores.close();
  },
);
