import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import type { Person } from '../../../src/access/domain/person.ts';
import type { SignInWay } from '../../../src/access/domain/session.ts';
import type { SignedIn } from '../../../src/access/people-ports.ts';
import type { AccessPorts } from '../../../src/access/ports.ts';
import type { SettableClock } from '../../support/settable-clock.ts';
import type { DomainEvent } from '../../../src/kernel/decision.ts';
import { accessLabs } from '../../support/access/access-lab.ts';
import { race } from '../../support/race.ts';

const accessLab = accessLabs();
const start = new Date('2026-03-01T10:00:30Z');
const email = 'mia@shop.example';
const from = { network: '203.0.113.7', browser: 'Firefox' };
const [first, second] = ['correct horse battery', 'staple of many words'];

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

const chosen = async () => (await happened()).filter(({ type }) => type === 'password_changed');
const byLink = async (whose = email): Promise<SignedIn> => {
  const { secret } = await face.signInLinkFor(whose);
  const session = await face.signInByLink(secret, from);
  return (await face.findSession(session.secret))!;
};
const byPassword = async (password: string): Promise<SignedIn> => {
  const session = await face.signIn({ email, password }, from);
  return (await face.findSession(session.secret))!;
};
const choose = (whose: SignedIn, wanted: string, current = '') =>
  face.choosePassword(whose, { current, wanted });
const sessionIds = async (personId = mia.id) =>
  (await face.listSessions(personId)).map(({ id }) => id);

describe('choosing a password', () => {
  test('needs no old one the first time, or after signing in by link', async () => {
    await choose(await byLink(), first);
    const again = await byLink();
    expect(again.person.passwordHash).toBeDefined();
    await choose(again, second);
    expect(await byPassword(second)).toMatchObject({ person: { id: mia.id } });
    await expect(byPassword(first)).rejects.toHaveProperty('code', 'sign_in_refused');
    expect(await chosen()).toMatchObject([{ personId: mia.id }, { personId: mia.id }]);
  });

  test('needs no old one when the person has none, however they signed in', async () => {
    const { session, ...rest } = await byLink();
    const way: SignInWay = 'password';
    await choose({ ...rest, session: { ...session, way } }, first);
    expect(await byPassword(first)).toMatchObject({ person: { id: mia.id } });
  });

  test('needs the old one after signing in with it', async () => {
    await choose(await byLink(), first);
    const session = await byPassword(first);
    for (const wrong of ['', `${first} `, session.person.passwordHash!]) {
      const choosing = choose(session, second, wrong);
      await expect(choosing).rejects.toHaveProperty('code', 'password_invalid');
      await expect(choosing).rejects.toThrow('The current password is wrong.');
    }
    expect(await chosen()).toHaveLength(1);
    await choose(session, second, first);
    clock.advance(60_000);
    expect(await byPassword(second)).toMatchObject({ person: { id: mia.id } });
  });

  test('needs the old one after a link that the person created for themselves', async () => {
    await choose(await byLink(), first);
    const { secret } = await face.renewLink(await byPassword(first), mia.id);
    const opened = await face.signInByLink(secret, from);
    const own = (await face.findSession(opened.secret))!;
    expect(own.session.way).toBe('link');
    await expect(choose(own, second)).rejects.toHaveProperty('code', 'password_invalid');
    await choose(own, second, first);
    expect(await chosen()).toHaveLength(2);
  });

  test('needs the old one again after one change by a link', async () => {
    const { secret } = await face.signInByLink((await face.signInLinkFor(email)).secret, from);
    const now = async () => (await face.findSession(secret))!;
    await choose(await now(), first);
    await expect(choose(await now(), second)).rejects.toHaveProperty('code', 'password_invalid');
    await choose(await now(), second, first);
    expect(await chosen()).toHaveLength(2);
  });

  test('is refused when it is too short, common or contains the name, and changes nothing', async () => {
    const [session, other] = [await byLink(), await byLink()];
    for (const wanted of ['too short', `my ${email} 1`, 'Password2026!', 'zoo 123456789']) {
      const choosing = choose(session, wanted);
      await expect(choosing).rejects.toHaveProperty('code', 'password_invalid');
    }
    expect(await ports.people.find(mia.id)).toEqual({ ...mia, joinedAt: start, provenAt: start });
    const open = [session.session.id, other.session.id].sort();
    expect((await sessionIds()).sort()).toEqual(open);
  });

  test('succeeds only once when one session sends several at once, by a link or with the current password', async () => {
    const several = async (session: SignedIn, current: string) => {
      const { won, lost } = await race(3, async (n) => {
        const wanted = `${second} ${current.length}-${n}`;
        await choose(session, wanted, current);
        return wanted;
      });
      expect(lost).toEqual(['password_invalid', 'password_invalid']);
      return won[0]!;
    };
    const now = await several(await byLink(), '');
    await byPassword(await several(await byPassword(now), now));
    expect(await chosen()).toHaveLength(2);
  });
});

describe('the current password', () => {
  let session: SignedIn;
  beforeEach(async () => {
    await choose(await byLink(), first);
    session = await byPassword(first);
    clock.advance(60_000);
  });
  const guess = (n: number) => choose(session, second, `guess ${n}`);

  test('may be tried five times a minute, whether right or wrong', async () => {
    const { lost } = await race(5, guess);
    expect(lost).toEqual(Array(5).fill('password_invalid'));
    const late = choose(session, second, first);
    await expect(late).rejects.toHaveProperty('code', 'too_many_sign_ins');
    await expect(late).rejects.toThrow(
      'Try again in 30 seconds, or use a sign-in link, which works at once.',
    );
    expect(await chosen()).toHaveLength(1);
    clock.advance(30_000);
    await choose(session, second, first);
    expect(await chosen()).toHaveLength(2);
  });

  test('has its own limit, separate from sign-in attempts', async () => {
    await race(9, (n) => byPassword(`guess ${n}`));
    await choose(session, second, first);
    expect(await chosen()).toHaveLength(2);
  });

  test('uses no attempt when it is not needed, or when the new password is refused', async () => {
    for (let n = 0; n < 6; n++) {
      const choosing = choose(session, 'too short', first);
      await expect(choosing).rejects.toThrow('12 to 200 characters');
    }
    await race(5, guess);
    await choose(await byLink(), second);
    expect(await chosen()).toHaveLength(2);
  });
});
