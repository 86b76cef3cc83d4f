import { beforeEach, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import type { Person } from '../../../src/access/domain/person.ts';
import type { SignedIn } from '../../../src/access/people-ports.ts';
import type { AccessPorts } from '../../../src/access/ports.ts';
import type { SettableClock } from '../../support/settable-clock.ts';
import type { DomainEvent } from '../../../src/kernel/decision.ts';
import { accessLabs } from '../../support/access/access-lab.ts';
import { givePassword } from '../../support/access/people.ts';

const accessLab = accessLabs();
const start = new Date('2026-03-01T10:00:00Z');
const email = 'mia@shop.example';
const from = { network: '192.0.2.1', browser: 'Firefox' };
const [password, other] = ['correct horse battery', 'staple of many words'];

let face: Access;
let ports: AccessPorts;
let clock: SettableClock;
let happened: () => Promise<readonly DomainEvent[]>;
let zoo: Person;
let birds: Person;
let cats: Person;
beforeEach(async () => {
  ({ face, ports, clock, happened } = await accessLab(start));
  zoo = await newOwner('Zoo', password);
  birds = await newOwner('Birds', password);
  cats = await newOwner('Cats', other);
});

const newOwner = async (name: string, its: string): Promise<Person> => {
  const { account } = await face.createAccount({ name, email, plan: 'pro' });
  const [person] = await face.listPeople(account.id);
  await givePassword(ports, person!.id, await ports.passwords.hash(its));
  return person!;
};
const found = async (secret: string): Promise<SignedIn> => (await face.findSession(secret))!;
const signIn = async (its = password) =>
  found((await face.signIn({ email, password: its }, from)).secret);
const names = async (signedIn: SignedIn) =>
  (await face.accountsOf(signedIn)).map(({ account }) => account.name);

test('a password that opens several accounts signs in to the oldest, and the session can switch to the others', async () => {
  const mine = await signIn();
  expect(mine.person.id).toBe(zoo.id);
  expect(await names(mine)).toEqual(['Zoo', 'Birds']);
  expect(await names(await signIn(other))).toEqual(['Cats']);
});

test('switching the account ends the previous session, does not prolong it, and allows switching back', async () => {
  const mine = await signIn();
  clock.advance(60_000);
  const started = await face.switchAccount(mine, birds.id, from);
  expect(started).toMatchObject({
    personId: birds.id,
    way: 'password',
    endsAt: mine.session.endsAt,
  });
  expect(await face.listSessions(zoo.id)).toEqual([]);
  const there = await found(started.secret);
  expect(await names(there)).toEqual(['Birds', 'Zoo']);
  const back = await face.switchAccount(there, zoo.id, from);
  expect(await names(await found(back.secret))).toEqual(['Zoo', 'Birds']);
  expect((await happened()).filter(({ type }) => type === 'person_signed_in')).toMatchObject([
    { accountId: zoo.accountId },
    { accountId: birds.accountId },
    { accountId: zoo.accountId },
  ]);
});

test('only accounts that the password opened can be chosen', async () => {
  const mine = await signIn();
  for (const id of [cats.id, 'pers_nobody', zoo.id]) {
    const switching = face.switchAccount(mine, id, from);
    await expect(switching).rejects.toHaveProperty('code', 'person_not_found');
  }
  expect(await names(mine)).toEqual(['Zoo', 'Birds']);
});

test('an account whose password changed or that removed the person can no longer be chosen', async () => {
  const mine = await signIn();
  await givePassword(ports, birds.id, await ports.passwords.hash(other));
  expect(await names(mine)).toEqual(['Zoo']);
  const switching = face.switchAccount(mine, birds.id, from);
  await expect(switching).rejects.toHaveProperty('code', 'person_not_found');
  await ports.people.remove(birds.accountId, birds.id, () => []);
  expect(await names(mine)).toEqual(['Zoo']);
});

test('a link opens its own account only', async () => {
  const { secret } = await face.signInLinkFor(email, birds.accountId);
  const there = await found((await face.signInByLink(secret, from)).secret);
  expect(there.person.id).toBe(birds.id);
  expect(await names(there)).toEqual(['Birds']);
});

test('inviting an address and choosing its password gives access to that account only', async () => {
  const { account } = await face.createAccount({
    name: 'Evil',
    email: 'eve@evil.example',
    plan: 'free',
  });
  const { secret } = await face.invite(account.id, email);
  const there = await found((await face.signInByLink(secret, from)).secret);
  await face.choosePassword(there, { current: '', wanted: 'known to somebody else' });
  const evil = await signIn('known to somebody else');
  expect(await names(evil)).toEqual(['Evil']);
  expect(await names(await signIn())).toEqual(['Zoo', 'Birds']);
});
