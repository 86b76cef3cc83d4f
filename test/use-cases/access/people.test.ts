import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import type { Person } from '../../../src/access/domain/person.ts';
import type { SignedIn } from '../../../src/access/people-ports.ts';
import type { AccessPorts } from '../../../src/access/ports.ts';
import type { Invitation } from '../../../src/access/use-cases/people.ts';
import type { SettableClock } from '../../support/settable-clock.ts';
import type { DomainEvent } from '../../../src/kernel/decision.ts';
import { accessLabs } from '../../support/access/access-lab.ts';
import { race } from '../../support/race.ts';

const accessLab = accessLabs();
const start = new Date('2026-03-01T10:00:00Z');
const minute = 60_000;
const day = 24 * 60 * minute;
const email = 'mia@shop.example';
const from = { network: '203.0.113.7', browser: 'Firefox' };

let face: Access;
let ports: AccessPorts;
let clock: SettableClock;
let happened: () => Promise<readonly DomainEvent[]>;
let accountId: string;
let mia: Person;
beforeEach(async () => {
  ({ face, ports, clock, happened } = await accessLab(start));
  ({ id: accountId } = (await face.createAccount({ name: 'Zoo', email, plan: 'pro' })).account);
  mia = (await face.listPeople(accountId))[0]!;
});

const told = async (type: string) => (await happened()).filter((event) => event.type === type);
const byLink = async (whose = email): Promise<SignedIn> => {
  const { secret } = await face.signInLinkFor(whose);
  const session = await face.signInByLink(secret, from);
  return (await face.findSession(session.secret))!;
};
const sessionIds = async (personId = mia.id) =>
  (await face.listSessions(personId)).map(({ id }) => id);

describe('inviting a person', () => {
  test('gives them a sign-in link that works for seven days', async () => {
    const invitation = await face.invite(accountId, ' Ben@Shop.example');
    const { person, secret, endsAt } = invitation;
    expect(person).toMatchObject({ accountId, email: 'ben@shop.example', createdAt: start });
    expect(endsAt).toEqual(new Date(start.getTime() + 7 * day));
    expect(await face.listPeople(accountId)).toEqual([mia, person]);
    expect(await told('person_invited')).toMatchObject([{ email }, { email: 'ben@shop.example' }]);
    clock.advance(7 * day - 1);
    expect(await face.signInByLink(secret, from)).toMatchObject({ personId: person.id });
  });

  test('again creates a new link, and changes nothing else', async () => {
    const [first, second] = [
      await face.invite(accountId, 'ben@shop.example'),
      await face.invite(accountId, 'BEN@shop.example'),
    ];
    expect(second.person).toEqual(first.person);
    expect(second.secret).not.toBe(first.secret);
    expect(await face.listPeople(accountId)).toHaveLength(2);
    expect(await told('person_invited')).toHaveLength(2);
    expect(await face.signInByLink(second.secret, from)).toMatchObject({
      personId: first.person.id,
    });
    const late = face.signInByLink(first.secret, from);
    await expect(late).rejects.toHaveProperty('code', 'sign_in_link_invalid');
  });

  test('happens once for two concurrent requests, and both get a link', async () => {
    const { won, lost } = await race(2, () => face.invite(accountId, 'ben@shop.example'));
    expect(lost).toEqual([]);
    const [mine, yours] = won;
    expect(mine?.person).toEqual(yours?.person);
    expect(await face.listPeople(accountId)).toEqual([mia, mine?.person]);
    expect(await told('person_invited')).toHaveLength(2);
    for (const { secret, person } of won) {
      const hash = ports.keyMaterial.sha256(secret);
      expect(await ports.signInLinks.personIdOf(hash, start)).toBe(person.id);
    }
  });

  test('gives the same answer for an address that signs in elsewhere, and does not affect it there', async () => {
    const draft = { name: 'Else', email: 'eve@elsewhere.example', plan: 'free' } as const;
    const { account } = await face.createAccount(draft);
    const eve = await byLink(draft.email);
    const [known, unknown] = [
      await face.invite(accountId, draft.email),
      await face.invite(accountId, 'new@elsewhere.example'),
    ];
    const shape = ({ person, secret, endsAt }: Invitation) => {
      const { accountId: where, passwordHash, joinedAt } = person;
      return { where, passwordHash, joinedAt, length: secret.length, endsAt };
    };
    expect(shape(known)).toEqual(shape(unknown));
    expect(await face.listPeople(account.id)).toEqual([eve.person]);
    expect(await sessionIds(eve.person.id)).toEqual([eve.session.id]);
    expect((await face.signInByLink(known.secret, from)).personId).not.toBe(eve.person.id);
  });

  test('is refused for a colleague who has signed in before, but the operator can do it', async () => {
    await byLink();
    const again = face.invite(accountId, email);
    await expect(again).rejects.toHaveProperty('code', 'person_joined');
    await expect(again).rejects.toThrow('only they or the operator can create a link for them');
    const { secret } = await face.inviteAnybody(accountId, email);
    expect(await face.signInByLink(secret, from)).toMatchObject({ personId: mia.id });
  });
});

describe('a link for immediate use', () => {
  test('works for a quarter of an hour, for its person only', async () => {
    const { person, endsAt, secret } = await face.signInLinkFor(` ${email.toUpperCase()}`);
    expect(person).toEqual(mia);
    expect(endsAt).toEqual(new Date(start.getTime() + 15 * minute));
    expect(await ports.signInLinks.personIdOf(secret, start)).toBeUndefined();
    expect(await face.signInByLink(secret, from)).toMatchObject({ personId: mia.id });
  });
});

describe('another link', () => {
  test('can be created for yourself, and for a colleague who has not signed in yet', async () => {
    const me = await byLink();
    const { person: ben } = await face.invite(accountId, 'ben@shop.example');
    for (const id of [mia.id, ben.id]) {
      const { secret } = await face.renewLink(me, id);
      expect(await face.signInByLink(secret, from)).toMatchObject({ personId: id });
    }
  });

  test('is refused for a colleague who has signed in, and for people of another account', async () => {
    const me = await byLink();
    const { person: ben } = await face.invite(accountId, 'ben@shop.example');
    await byLink(ben.email);
    const made = (await told('sign_in_link_made')).length;
    await expect(face.renewLink(me, ben.id)).rejects.toHaveProperty('code', 'person_joined');
    const draft = { name: 'Else', email: 'eve@elsewhere.example', plan: 'free' } as const;
    const { account } = await face.createAccount(draft);
    const eve = (await face.listPeople(account.id))[0]!;
    for (const id of [eve.id, 'pers_nobody']) {
      await expect(face.renewLink(me, id)).rejects.toHaveProperty('code', 'person_not_found');
    }
    expect(await told('sign_in_link_made')).toHaveLength(made);
  });
});

describe('revoking a session', () => {
  test('ends it, even the current one, and returns it', async () => {
    const [mine, other] = [await byLink(), await byLink()];
    const about = { accountId, occurredAt: start, personId: mia.id };
    await face.revokeSession(mine, other.session.id);
    expect(await sessionIds()).toEqual([mine.session.id]);
    await face.revokeSession(mine, mine.session.id);
    expect(await sessionIds()).toEqual([]);
    expect(await told('session_revoked')).toEqual(
      [other, mine].map(({ session }) => {
        return { type: 'session_revoked', ...about, sessionId: session.id };
      }),
    );
  });
});

describe('revoking all other sessions', () => {
  test("ends those of the same person, each with an event, and nobody else's", async () => {
    await face.invite(accountId, 'ben@shop.example');
    const [mine, ben] = [await byLink(), await byLink('ben@shop.example')];
    await byLink();
    await byLink();
    expect(await face.revokeOtherSessions(mine)).toBe(2);
    expect(await sessionIds()).toEqual([mine.session.id]);
    expect(await sessionIds(ben.person.id)).toEqual([ben.session.id]);
    expect(await told('session_revoked')).toHaveLength(2);
    expect(await face.revokeOtherSessions(mine)).toBe(0);
  });

  test('omits expired ones, and does not fail for those that end elsewhere meanwhile', async () => {
    const expired = await byLink();
    clock.advance(day);
    const mine = await byLink();
    expect(await face.revokeOtherSessions(mine)).toBe(0);
    await byLink();
    await Promise.all([face.revokeOtherSessions(mine), face.revokeOtherSessions(mine)]);
    expect(await sessionIds()).toEqual([mine.session.id, expired.session.id]);
  });
});
