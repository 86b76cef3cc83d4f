import { beforeEach, expect } from '@jest/globals';
import type { AccessEvent } from '../../../src/access/domain/access-event.ts';
import type { Person } from '../../../src/access/domain/person.ts';
import type { SignInProof } from '../../../src/access/domain/person.ts';
import { later, newAccount, now, personDecision, takeEvents } from '../../support/accounts.ts';
import { givePassword, newHash, newLink, sessionOf } from '../../support/access/people.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('proofs for signing in', (stores) => {
  let person: Person;
  beforeEach(async () => {
    const account = await newAccount(stores);
    person = (await stores.people.list(account))[0]!;
  });

  const both = () => [stores, stores.secondProcess];
  const signedIn = (way: string): readonly AccessEvent[] => {
    const about = { accountId: person.accountId, occurredAt: now, personId: person.id };
    return [{ type: 'person_signed_in', ...about, way }];
  };
  const start = async (proof: SignInProof, at = now, { sessions } = both()[0]!) => {
    const known = sessionOf(person.id, { way: proof.way }, at);
    await sessions.start({ ...known, proof, events: signedIn(proof.way) });
    return known.session;
  };
  const byPassword = (passwordHash: string) => start({ way: 'password', passwordHash });
  const byLink = (linkHash: string, at = now) => start({ way: 'link', linkHash }, at);
  const nothingIsKept = async () => {
    expect(await stores.sessions.list(person.id)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  };
  /** A person of the account who is then removed. */
  const leaver = async (): Promise<Person> => {
    const { state } = personDecision(person.accountId);
    await stores.people.add({ state, events: [] });
    return state;
  };

  test('the current password hash signs in any number of times, each with an event', async () => {
    await givePassword(stores, person.id, 'hash');
    const sessions = [await byPassword('hash'), await byPassword('hash')];
    expect(await stores.sessions.list(person.id)).toEqual(expect.arrayContaining(sessions));
    expect(await takeEvents(stores)).toEqual([...signedIn('password'), ...signedIn('password')]);
  });

  test('an outdated or removed password hash does not sign in', async () => {
    for (const guess of ['', 'null', 'undefined', 'hash']) {
      await expect(byPassword(guess)).rejects.toHaveProperty('code', 'sign_in_refused');
    }
    await givePassword(stores, person.id, 'hash');
    for (const other of ['', 'HASH', 'hash ', 'hasch']) {
      await expect(byPassword(other)).rejects.toHaveProperty('code', 'sign_in_refused');
    }
    await nothingIsKept();
  });

  test('a link signs in once, in any process, with an event', async () => {
    const linkHash = await newLink(stores, person.id);
    const session = await start({ way: 'link', linkHash }, now, stores.secondProcess);
    expect(await takeEvents(stores)).toEqual(signedIn('link'));
    for (const process of both()) {
      expect(await process.signInLinks.personIdOf(linkHash, now)).toBeUndefined();
      const again = start({ way: 'link', linkHash }, now, process);
      await expect(again).rejects.toHaveProperty('code', 'sign_in_link_invalid');
    }
    expect(await stores.sessions.list(person.id)).toEqual([session]);
  });

  testOnBoth(
    'the first link that proves the address ends all sessions begun before it',
    async () => {
      const known = sessionOf(person.id);
      const shown = await newLink(stores, person.id);
      await stores.sessions.start({
        ...known,
        events: [],
        proof: { way: 'link', linkHash: shown },
      });
      await stores.people.changePassword(person.id, known.session.id, (its) => {
        return { state: { ...its, passwordHash: 'of somebody' }, events: [] };
      });
      const kept = await newLink(stores, person.id);
      expect(await stores.people.find(person.id)).toMatchObject({
        joinedAt: now,
        provenAt: undefined,
      });
      const proof = { way: 'link', linkHash: await newLink(stores, person.id) } as const;
      const mine = sessionOf(person.id, { resetsPassword: true }, later(7));
      await stores.sessions.start({ ...mine, proof, events: [] });
      const proven = { joinedAt: now, provenAt: later(7), passwordHash: undefined };
      expect(await stores.people.find(person.id)).toMatchObject(proven);
      expect(await stores.sessions.list(person.id)).toEqual([mine.session]);
      await expect(byPassword('of somebody')).rejects.toHaveProperty('code', 'sign_in_refused');
      await expect(byLink(kept)).rejects.toHaveProperty('code', 'sign_in_link_invalid');

      // The next session ends no other session.
      const next = sessionOf(person.id, { resetsPassword: true }, later(9));
      const another = { way: 'link', linkHash: await newLink(stores, person.id) } as const;
      await stores.sessions.start({ ...next, proof: another, events: [] });
      expect(await stores.people.find(person.id)).toMatchObject(proven);
      expect(await stores.sessions.list(person.id)).toEqual([next.session, mine.session]);
    },
  );

  test('a link of another person does not sign in and is not used up', async () => {
    const mine = await newLink(stores, person.id);
    const other = await leaver();
    const theirs = await newLink(stores, other.id);
    for (const wrong of [mine.toUpperCase(), person.id, '', newHash(), theirs]) {
      await expect(byLink(wrong)).rejects.toHaveProperty('code', 'sign_in_link_invalid');
    }
    await nothingIsKept();
    expect(await stores.signInLinks.personIdOf(theirs, now)).toBe(other.id);
    await byLink(mine);
  });

  test('a link signs in until its end and not after', async () => {
    const [early, late] = [
      await newLink(stores, person.id, later(5)),
      await newLink(stores, person.id, later(5)),
    ];
    for (const at of [later(5), later(6)]) {
      await expect(byLink(late, at)).rejects.toHaveProperty('code', 'sign_in_link_invalid');
    }
    await nothingIsKept();
    await byLink(early, later(4));
  });

  test('a removed person cannot sign in by any means', async () => {
    const { id, accountId } = await leaver();
    const linkHash = await newLink(stores, id);
    await givePassword(stores, id, 'hash');
    await stores.people.remove(accountId, id, () => []);
    for (const [proof, code] of [
      [{ way: 'password', passwordHash: 'hash' }, 'sign_in_refused'],
      [{ way: 'link', linkHash }, 'sign_in_link_invalid'],
    ] as const) {
      const known = sessionOf(id);
      const starting = stores.sessions.start({ ...known, proof, events: signedIn(proof.way) });
      await expect(starting).rejects.toHaveProperty('code', code);
      expect(await stores.sessions.findBySecretHash(known.secretHash)).toBeUndefined();
    }
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth('when twenty use one link at the same time, exactly one signs in', async () => {
    const linkHash = await newLink(stores, person.id);
    const { won, lost } = await race(20, (n) =>
      start({ way: 'link', linkHash }, now, both()[n % 2]),
    );
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('sign_in_link_invalid'));
    expect(await stores.sessions.list(person.id)).toEqual(won);
    expect(await takeEvents(stores)).toEqual(signedIn('link'));
  });
});
