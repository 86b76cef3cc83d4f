import { beforeEach, expect } from '@jest/globals';
import { changePassword, type Person } from '../../../src/access/domain/person.ts';
import type { SignInProof } from '../../../src/access/domain/person.ts';
import { newAccount, now, takeEvents } from '../../support/accounts.ts';
import {
  givePassword,
  letIn,
  newLink,
  sessionOf,
  signedInPerson,
  type KnownSession,
} from '../../support/access/people.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('changing a password', (stores) => {
  let account: string;
  let person: Person;
  let mine: KnownSession;
  beforeEach(async () => {
    account = await newAccount(stores);
    const owner = (await stores.people.list(account))[0]!;
    mine = await letIn(stores, sessionOf(owner.id));
    person = { ...owner, joinedAt: mine.session.startedAt };
  });

  const both = () => [stores, stores.secondProcess];
  const change = (passwordHash: string, by = mine.session.id, { people } = both()[0]!) =>
    people.changePassword(person.id, by, (its) => changePassword(its, passwordHash, now));
  const stored = () => stores.people.find(person.id);
  const start = (proof: SignInProof, { sessions } = both()[1]!) =>
    sessions.start({ ...sessionOf(person.id), proof, events: [] });

  test('a password is stored together with its event, and others keep theirs', async () => {
    const { person: other } = await signedInPerson(stores, account);
    await takeEvents(stores);
    await change('hash');
    for (const { people } of both()) {
      expect(await people.find(person.id)).toEqual({ ...person, passwordHash: 'hash' });
    }
    expect(await stores.people.find(other.id)).toEqual(other);
    const about = { accountId: account, occurredAt: now, personId: person.id };
    expect(await takeEvents(stores)).toEqual([{ type: 'password_changed', ...about }]);
  });

  test('it ends all other sessions and all links of that person only, in every process', async () => {
    const gone = [
      await letIn(stores, sessionOf(person.id)),
      await letIn(stores, sessionOf(person.id)),
    ];
    const links = [await newLink(stores, person.id), await newLink(stores, person.id)];
    const theirs = await signedInPerson(stores, account);
    await change('hash');
    for (const { sessions, signInLinks } of both()) {
      expect(await sessions.list(person.id)).toEqual([mine.session]);
      for (const { secretHash } of gone) {
        expect(await sessions.findBySecretHash(secretHash)).toBeUndefined();
      }
      for (const link of links) expect(await signInLinks.personIdOf(link, now)).toBeUndefined();
      expect(await sessions.list(theirs.person.id)).toEqual([theirs.session]);
      expect(await signInLinks.personIdOf(theirs.linkHash, now)).toBe(theirs.person.id);
    }
  });

  test('the session that changed the password cannot reset a password any more, in every process', async () => {
    const { session } = await letIn(stores, sessionOf(person.id, { resetsPassword: true }));
    expect(await stores.secondProcess.sessions.list(person.id)).toContainEqual(session);
    await change('hash', session.id);
    for (const { sessions } of both()) {
      expect(await sessions.list(person.id)).toEqual([{ ...session, resetsPassword: false }]);
    }
  });

  test('it requires an open session of that person', async () => {
    const { session: ended } = await letIn(stores, sessionOf(person.id));
    await stores.secondProcess.sessions.end(person.id, ended.id, []);
    const theirs = await signedInPerson(stores, account);
    await takeEvents(stores);
    for (const id of [ended.id, theirs.session.id, mine.session.id.toUpperCase(), '']) {
      await expect(change('hash', id)).rejects.toHaveProperty('code', 'session_not_found');
    }
    expect(await stored()).toEqual(person);
    expect(await stores.sessions.list(person.id)).toEqual([mine.session]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('a change that fails stores nothing', async () => {
    const { session: other } = await letIn(stores, sessionOf(person.id));
    const link = await newLink(stores, person.id);
    const changing = stores.people.changePassword(person.id, mine.session.id, refuse);
    await expect(changing).rejects.toBe(refusal);
    expect(await stored()).toEqual(person);
    expect(await stores.sessions.list(person.id)).toHaveLength(2);
    expect(await stores.sessions.list(person.id)).toContainEqual(other);
    expect(await stores.signInLinks.personIdOf(link, now)).toBe(person.id);
  });

  testOnBoth(
    'when twenty sessions change it at once, exactly one succeeds, and only that one stays open',
    async () => {
      const known = [mine];
      while (known.length < 20) known.push(await letIn(stores, sessionOf(person.id)));
      const { won, lost } = await race(20, async (n) => {
        const { session } = known[n]!;
        await change(`hash ${n}`, session.id, both()[n % 2]);
        return { session, passwordHash: `hash ${n}` };
      });
      expect(won).toHaveLength(1);
      expect(lost).toEqual(Array(19).fill('session_not_found'));
      expect(await stores.sessions.list(person.id)).toEqual([won[0]!.session]);
      expect(await stored()).toEqual({ ...person, passwordHash: won[0]!.passwordHash });
      expect(await takeEvents(stores)).toHaveLength(1);
    },
  );

  testOnBoth(
    'the old password and links stop working while the new password is being stored',
    async () => {
      await givePassword(stores, person.id, 'old hash');
      mine = await letIn(stores, sessionOf(person.id));
      const proofs: readonly SignInProof[] = [
        { way: 'password', passwordHash: 'old hash' },
        { way: 'link', linkHash: await newLink(stores, person.id) },
      ];
      const deciding = Promise.withResolvers<undefined>();
      const rivals = deciding.promise.then(() => race(2, (n) => start(proofs[n]!)));
      await stores.people.changePassword(person.id, mine.session.id, (its) => {
        deciding.resolve(undefined);
        return changePassword(its, 'new hash', now);
      });
      expect((await rivals).lost).toEqual(['sign_in_refused', 'sign_in_link_invalid']);
      expect(await stores.sessions.list(person.id)).toEqual([mine.session]);
    },
  );

  testOnBoth(
    'a session begun at the same time with the old password or a link ends with the change',
    async () => {
      for (let time = 0; time < 7; time++) {
        const passwordHash = `hash ${time}`;
        await givePassword(stores, person.id, passwordHash);
        mine = await letIn(stores, sessionOf(person.id));
        const links = await Promise.all([1, 2, 3].map(() => newLink(stores, person.id)));
        const proofs: SignInProof[] = links.flatMap((linkHash) => [
          { way: 'password', passwordHash },
          { way: 'link', linkHash },
        ]);
        const { lost } = await race(7, (n) =>
          n === time ? change('another hash') : start(proofs[n % 6]!, both()[n % 2]),
        );
        for (const code of lost)
          expect(['sign_in_refused', 'sign_in_link_invalid']).toContain(code);
        expect(await stored()).toEqual({ ...person, passwordHash: 'another hash', provenAt: now });
        expect(await stores.sessions.list(person.id)).toEqual([mine.session]);
        await expect(start(proofs[0]!)).rejects.toHaveProperty('code', 'sign_in_refused');
        await expect(start(proofs[1]!)).rejects.toHaveProperty('code', 'sign_in_link_invalid');
      }
    },
  );

  testOnBoth('creating a link at the same time causes no failure', async () => {
    for (let time = 0; time < 5; time++) {
      const { lost } = await race(7, async (n) => {
        if (n === 3) await change(`hash ${time}`);
        else await newLink(both()[n % 2]!, person.id);
      });
      expect(lost).toEqual([]);
    }
  });
});
