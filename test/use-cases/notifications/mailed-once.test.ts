import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { QueueWorker } from '../../../src/adapters/schedule/queue-worker.ts';
import { AesGcmSealer } from '../../../src/adapters/system/secrets.ts';
import { queueKinds } from '../../../src/app/queues.ts';
import { deleteAccount } from '../../../src/access/domain/account.ts';
import { KnownRecipients } from '../../../src/app/wiring/notifications.ts';
import type { Notification } from '../../../src/notifications/domain/notification.ts';
import type { OutgoingMail, Posted } from '../../../src/notifications/ports.ts';
import { notifications } from '../../../src/notifications/notifications.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import {
  accountDecision,
  keyDecision,
  later,
  now,
  personDecision,
} from '../../support/accounts.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

const minute = 60_000;
const hour = 60 * minute;
const sealer = new AesGcmSealer(Buffer.from('a secret key of this test'));

const open = storesOfTests();

/** An account with two people who have proven their addresses, and one who has only signed in. */
const world = async (answer: (mail: OutgoingMail) => Posted = () => ({ kind: 'taken' })) => {
  const ports = await open();
  const clock = new SettableClock(now);
  const account = accountDecision();
  const accountId = account.state.id;
  const [ada, bob, newcomer] = [1, 2, 3].map(() => personDecision(accountId));
  const joined = ({ state, events }: ReturnType<typeof personDecision>) => ({
    state: { ...state, joinedAt: now, provenAt: now },
    events,
  });
  await ports.accounts.open(account, keyDecision(accountId), joined(ada!));
  await ports.people.add(joined(bob!));
  await ports.people.add({ ...newcomer!, state: { ...newcomer!.state, joinedAt: now } });
  const posted: OutgoingMail[] = [];
  const postman = {
    post: (mail: OutgoingMail): Promise<Posted> => {
      const outcome = answer(mail);
      if (outcome.kind === 'taken') posted.push(mail);
      return Promise.resolve(outcome);
    },
  };
  const face = notifications({
    notices: mustNotBeUsed('notices'),
    clock,
    sealer,
    mails: ports.mails,
    mailChoices: ports.mailChoices,
    recipients: new KnownRecipients(ports.people, ports.accounts),
    postman,
  });
  /** Sends all due mails, like a worker. */
  const work = async (): Promise<void> => {
    const log = pino({ enabled: false });
    const sent = { mails: ports.mails, deliver: face.deliverMail, clock, log };
    const worker = new QueueWorker(queueKinds.mails(sent), { clock, log });
    await worker.run();
    await worker.stop();
  };
  return {
    ports,
    clock,
    posted,
    work,
    accountId,
    ada: ada!.state,
    bob: bob!.state,
    face,
    tell: (notification: Notification) => face.mailOwners(notification),
    told: (n: number): Notification => ({
      id: `evt_${n}`,
      accountId,
      occurredAt: later(n),
      kind: 'key.banned',
      about: { keyId: `key_${n}`, name: 'Till', until: later(hour).toISOString() },
    }),
    pass: (ms: number) => {
      clock.advance(ms);
    },
  };
};
type World = Awaited<ReturnType<typeof world>>;

const addressesOf = ({ posted }: World) => posted.map(({ to }) => to).sort();

test('owners of a deleted account get one mail about the deletion, and no other waiting mail', async () => {
  const all = await world();
  const { accountId, face, ports } = all;
  await all.tell(all.told(1));
  await ports.accounts.change(accountId, (account) => deleteAccount(account, now));
  const about = { account: 'Zoo', until: later(7 * 24 * hour).toISOString() };
  for (let times = 0; times < 3; times += 1)
    await face.mailAccount({ id: 'evt_2', accountId, kind: 'account.deleted', about });
  await all.work();
  expect(addressesOf(all)).toEqual([all.ada.email, all.bob.email].sort());
  for (const { told } of all.posted)
    expect(told).toEqual([expect.objectContaining({ kind: 'account.deleted', about })]);
});

test('each person who has signed in gets one mail, however often the event is delivered', async () => {
  const all = await world();
  for (let times = 0; times < 3; times += 1) await all.tell(all.told(1));
  await all.work();
  expect(addressesOf(all)).toEqual([all.ada.email, all.bob.email].sort());
});

test('an owner who has never signed in gets mail at the address the account was created with; other people who never signed in do not', async () => {
  const all = await world();
  const account = accountDecision();
  const { id: accountId, email } = account.state;
  const owner = personDecision(accountId);
  const owned = { ...owner, state: { ...owner.state, email } };
  await all.ports.accounts.open(account, keyDecision(accountId), owned);
  await all.ports.people.add(personDecision(accountId));
  await all.tell({ ...all.told(1), accountId });
  await all.work();
  expect(addressesOf(all)).toEqual([email]);
});

test('the person who caused an event gets no mail, and the others do', async () => {
  const all = await world();
  await all.tell({ ...all.told(1), by: all.ada.email });
  await all.work();
  expect(addressesOf(all)).toEqual([all.bob.email]);
});

test('a kind of mail that a person has switched off is not sent to them', async () => {
  const all = await world();
  await all.face.chooseMail(all.ada.id, new Set(['key.banned']));
  await all.tell(all.told(1));
  await all.work();
  expect(addressesOf(all)).toEqual([all.bob.email]);
  await all.face.chooseMail(all.ada.id, new Set());
  await all.tell(all.told(2));
  await all.work();
  expect(addressesOf(all)).toEqual([all.ada.email, all.bob.email, all.bob.email].sort());
});

test('a person who follows the unsubscribe link gets no more mails of its kinds, and the link cannot be forged', async () => {
  const all = await world();
  await all.tell(all.told(1));
  await all.work();
  const token = all.posted.find(({ to }) => to === all.ada.email)?.unsubscribeToken ?? '';
  expect(all.face.whatToUnsubscribe(token)).toEqual({
    personId: all.ada.id,
    kinds: ['key.banned'],
  });
  expect(await all.face.unsubscribe(token)).toBe(true);
  expect(await all.face.unsubscribe(`${token.slice(0, -1)}_`)).toBe(false);
  expect(await all.face.mailKindsOff(all.ada.id)).toEqual(new Set(['key.banned']));
  expect(await all.face.mailKindsOff(all.bob.id)).toEqual(new Set());
});

test('a personal mail is sent to the person alone, even if they have switched all off', async () => {
  const all = await world();
  const { id: personId, email: to } = all.ada;
  const mail = { id: 'link_1', accountId: all.accountId, personId, to };
  for (let times = 0; times < 2; times += 1) {
    const about = { email: to, account: 'Zoo', changedAt: '2026-03-01T10:00:00.000Z' };
    expect(await all.face.mailPerson({ ...mail, kind: 'password.changed', about })).toBe(true);
  }
  await all.work();
  expect(all.posted).toHaveLength(1);
  expect(all.posted[0]).toMatchObject({ to, unsubscribeToken: undefined });
});

test('more than five mails within ten minutes are summarised, and none is lost', async () => {
  const all = await world();
  for (let n = 0; n < 20; n += 1) {
    await all.tell(all.told(n));
    for (let times = 0; times < 3; times += 1) await all.work();
    all.pass(10_000);
  }
  expect(all.posted).toHaveLength(10);
  all.pass(10 * minute);
  await all.work();
  expect(all.posted).toHaveLength(12);
  const mine = all.posted.filter(({ to }) => to === all.ada.email).flatMap(({ told }) => told);
  expect(mine.map(({ about }) => (about as { keyId: string }).keyId)).toEqual(
    Array.from({ length: 20 }, (_, n) => `key_${n}`),
  );
});

test('a permanent refusal is shown beside the person and not retried; a success clears it', async () => {
  let isRefused = true;
  const all = await world(({ to }) =>
    isRefused && to === all.ada.email
      ? { kind: 'refused', reason: '550 no such user' }
      : { kind: 'taken' },
  );
  await all.tell(all.told(1));
  await all.work();
  const trouble = { personId: all.ada.id, since: now, refusal: '550 no such user' };
  expect(await all.face.listMailTroubles(all.accountId)).toEqual([trouble]);
  isRefused = false;
  all.pass(25 * hour);
  await all.work();
  expect(addressesOf(all)).toEqual([all.bob.email]);
  await all.tell(all.told(2));
  await all.work();
  expect(await all.face.listMailTroubles(all.accountId)).toEqual([]);
});

test('an outdated mail is not sent: its link has ended, or no server was configured for days', async () => {
  const all = await world();
  const { id: personId, email: to } = all.ada;
  const mail = { id: 'link_1', accountId: all.accountId, personId, to };
  const until = later(30 * minute).toISOString();
  const about = { email: to, links: [], until, isForPassword: false };
  await all.face.mailPerson({ ...mail, kind: 'sign_in.link', about });
  all.pass(30 * minute);
  await all.work();
  await all.tell(all.told(1));
  all.pass(3 * 24 * hour);
  await all.work();
  expect(all.posted).toEqual([]);
  all.pass(30 * 24 * hour);
  await all.work();
  expect(all.posted).toEqual([]);
  expect(await all.ports.mails.state(all.clock.now())).toMatchObject({ waiting: 0 });
});

test('a person who switches a kind off gets no waiting mail of it, and the rest of a summary is still sent', async () => {
  const all = await world();
  for (let n = 0; n < 8; n += 1) await all.tell(all.told(n));
  const domain = { project: 'birds', host: 'birds.test', name: 'birds.test' };
  const live = { ...all.told(9), kind: 'domain.live', about: domain } as const;
  await all.tell(live);
  await all.face.chooseMail(all.ada.id, new Set(['key.banned']));
  for (let times = 0; times < 5; times += 1) await all.work();
  all.pass(10 * minute);
  for (let times = 0; times < 5; times += 1) await all.work();
  const mine = all.posted.filter(({ to }) => to === all.ada.email);
  expect(mine.flatMap(({ told }) => told.map(({ kind }) => kind))).toEqual(['domain.live']);
  expect(all.posted.filter(({ to }) => to === all.bob.email)).toHaveLength(6);
  expect(await all.ports.mails.state(all.clock.now())).toMatchObject({ waiting: 0, unreached: 0 });
});

test('a message that cannot be prepared counts as tried, and is abandoned after a day', async () => {
  const all = await world();
  const { id: personId, email: to } = all.ada;
  let looks = 0;
  all.ports.accounts.find = () => {
    looks += 1;
    return Promise.reject(new Error('this account cannot be read'));
  };
  const about = { email: to, account: 'Zoo', changedAt: now.toISOString() };
  const mail = { id: 'link_1', accountId: all.accountId, personId, to };
  await all.face.mailPerson({ ...mail, kind: 'password.changed', about });
  for (let minutes = 0; minutes < 30 * 60; minutes += 10) {
    await all.work();
    all.pass(10 * minute);
  }
  expect(looks).toBeGreaterThan(10);
  expect(looks).toBeLessThan(25);
  expect(await all.ports.mails.state(all.clock.now())).toMatchObject({ waiting: 0 });
});

test('simultaneous mails are separate messages, even if one is planned while the other waits for its turn', async () => {
  const { ports, clock, tell, told, work, posted } = await world();
  const add = ports.mails.add.bind(ports.mails);
  jest.spyOn(ports.mails, 'add').mockImplementationOnce(async (...wanted) => {
    clock.set(later(1));
    await tell(told(2));
    await add(...wanted);
  });
  await tell(told(1));
  await work();
  expect(posted.map(({ told: { length } }) => length)).toEqual([1, 1, 1, 1]);
});
