import { beforeEach, expect, test } from '@jest/globals';
import { removePerson, changePassword, type Person } from '../../../src/access/domain/person.ts';
import { later, newAccount, now, personDecision, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import {
  givePassword,
  newLink,
  sessionOf,
  signedInPerson,
  letIn,
} from '../../support/access/people.ts';
import { describeStores, testOnBoth } from '../../support/store-contracts.ts';
import { openStores } from '../../support/stores.ts';
import { databaseKinds } from '../../support/servers/databases.ts';

describeStores('people', (stores) => {
  const { people } = stores;
  let account: string;
  /** The first person of the account. */
  let owner: Person;
  beforeEach(async () => {
    account = await newAccount(stores);
    owner = (await people.list(account))[0]!;
  });

  const added = async (draft: Partial<Person> = {}, at = later(0)): Promise<Person> => {
    const { state } = personDecision(account, draft, at);
    await people.add({ state, events: [] });
    return state;
  };
  const remove = (id: string, from = people) =>
    from.remove(account, id, (all) => removePerson(all, id, now));
  const both = () => [people, stores.secondProcess.people];

  test('a person is stored together with the events, and every process finds the person', async () => {
    const { state, events } = personDecision(account, { email: 'zoë@shop.example' });
    await people.add({ state, events });
    expect(await takeEvents(stores)).toEqual(events);
    for (const those of both()) {
      expect(await those.find(state.id)).toEqual(state);
      expect(await those.listByEmail('zoë@shop.example')).toEqual([state]);
      expect(await those.list(account)).toContainEqual(state);
    }
    await remove(state.id);
  });

  testOnBoth('the longest address and hash are read back unchanged', async () => {
    const person = await added({ email: `${'é'.repeat(64)}@${'é.'.repeat(87)}yy.example.shop` });
    const passwordHash = 'x'.repeat(255);
    await givePassword(stores, person.id, passwordHash);
    const kept = { ...person, passwordHash, joinedAt: now, provenAt: now };
    expect(await people.find(person.id)).toEqual(kept);
    expect(await people.listByEmail(person.email)).toEqual([kept]);
    await remove(person.id);
  });

  test('an address cannot be added to an account twice', async () => {
    const again = personDecision(account, { email: owner.email });
    await expect(people.add(again)).rejects.toHaveProperty('code', 'person_taken');
    expect(await people.find(again.state.id)).toBeUndefined();
    expect(await people.listByEmail(owner.email)).toEqual([owner]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('one address may belong to several accounts, each with its own password; accounts where it is proven come first', async () => {
    const elsewhere = await newAccount(stores);
    const { state: other } = personDecision(elsewhere, { email: owner.email }, later(9));
    await people.add({ state: other, events: [] });
    await givePassword(stores, other.id, 'another hash');
    const their = { ...other, passwordHash: 'another hash', joinedAt: now, provenAt: now };
    for (const those of both()) {
      expect(await those.listByEmail(owner.email)).toEqual([their, owner]);
      expect(await those.list(account)).toEqual([owner]);
      expect(await those.list(elsewhere)).toContainEqual(their);
    }
    await people.remove(elsewhere, other.id, () => []);
    expect(await people.listByEmail(owner.email)).toEqual([owner]);
  });

  testOnBoth('addresses that differ only by an accent belong to different people', async () => {
    const emails = ['rene@a.example', 'rené@a.example'];
    const those = [];
    for (const email of emails) those.push(await added({ email }));
    expect((await Promise.all(emails.map((email) => people.listByEmail(email)))).flat()).toEqual(
      those,
    );
    for (const { id } of those) await remove(id);
  });

  test('nobody is added to an account that does not exist', async () => {
    const nowhere = personDecision('acct_nobody');
    await expect(people.add(nowhere)).rejects.toHaveProperty('code', 'account_not_found');
    expect(await people.find(nowhere.state.id)).toBeUndefined();
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth('the people of an account are listed oldest first, and no others', async () => {
    const [young, old] = [await added({}, later(5)), await added({}, later(-5))];
    const twins = [await added({}, later(7)), await added({}, later(7))];
    const listed = [old, owner, young, ...twins.sort((a, b) => (a.id < b.id ? -1 : 1))];
    expect(await people.list(account)).toEqual(listed);
    expect(await people.list(await newAccount(stores))).not.toContainEqual(owner);
    expect(await people.list(account.toUpperCase())).toEqual([]);
  });

  test('an unknown person is not found, not changed and not removed', async () => {
    for (const unknown of ['pers_nobody', owner.id.toUpperCase()]) {
      expect(await people.find(unknown)).toBeUndefined();
      const change = people.changePassword(unknown, 'sess_none', refuse);
      await expect(change).rejects.toHaveProperty('code', 'person_not_found');
      const blind = people.remove(account, unknown, () => []);
      await expect(blind).rejects.toHaveProperty('code', 'person_not_found');
    }
    expect(await people.listByEmail(owner.email.toUpperCase())).toEqual([]);
  });

  test('a change that fails stores nothing', async () => {
    const other = await added();
    await expect(people.remove(account, owner.id, refuse)).rejects.toBe(refusal);
    expect(await people.list(account)).toEqual([owner, other]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('a removed person is gone in every process, with all sessions and links', async () => {
    const { person, secretHash, linkHash } = await signedInPerson(stores, account);
    const kept = await signedInPerson(stores, account);
    await takeEvents(stores);
    await remove(person.id);
    const { id: personId, email } = person;
    expect(await takeEvents(stores)).toMatchObject([{ type: 'person_removed', personId, email }]);
    for (const process of [stores, stores.secondProcess]) {
      expect(await process.people.list(account)).toEqual([owner, kept.person]);
      expect(await process.people.listByEmail(email)).toEqual([]);
      expect(await process.sessions.list(personId)).toEqual([]);
      expect(await process.sessions.findBySecretHash(secretHash)).toBeUndefined();
      expect(await process.signInLinks.personIdOf(linkHash, now)).toBeUndefined();
    }
    expect(await stores.sessions.findBySecretHash(kept.secretHash)).toBeDefined();
    expect(await stores.signInLinks.personIdOf(kept.linkHash, now)).toBe(kept.person.id);
  });

  test('another account cannot remove people', async () => {
    const elsewhere = await newAccount(stores);
    await added();
    const removal = people.remove(elsewhere, owner.id, (all) => removePerson(all, owner.id, now));
    await expect(removal).rejects.toHaveProperty('code', 'person_not_found');
    const blind = people.remove(elsewhere, owner.id, () => []);
    await expect(blind).rejects.toHaveProperty('code', 'person_not_found');
    expect(await people.find(owner.id)).toEqual(owner);
  });

  test('removing a person frees their address', async () => {
    const { id, email } = await added();
    await remove(id);
    expect(await added({ email })).toMatchObject({ email });
  });

  testOnBoth('when two people remove each other, one stays', async () => {
    for (let time = 0; time < 5; time++) {
      const other = await added();
      const rivals = [owner, other];
      const { won, lost } = await race(2, (n) => remove(rivals[1 - n]!.id, both()[n]));
      expect(won).toHaveLength(1);
      expect(lost).toHaveLength(1);
      expect(['last_owner', 'person_not_found']).toContain(lost[0]);
      const left = await people.list(account);
      expect(left).toHaveLength(1);
      owner = left[0]!;
    }
  });

  testOnBoth('when all twenty people are removed at once, one stays', async () => {
    const those = [owner];
    while (those.length < 20) those.push(await added({}, later(those.length)));
    await takeEvents(stores);
    const { lost } = await race(20, (n) => remove(those[n]!.id, both()[n % 2]));
    expect(lost).toEqual(['last_owner']);
    expect(await people.list(account)).toHaveLength(1);
    expect(await takeEvents(stores)).toHaveLength(19);
  });

  testOnBoth('exactly one of twenty concurrent additions of an address succeeds', async () => {
    const email = 'rivals@people.example';
    const { won, lost } = await race(20, async (n) => {
      const rival = personDecision(account, { email });
      await both()[n % 2]!.add(rival);
      return rival.state;
    });
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('person_taken'));
    expect(await people.list(account)).toEqual([owner, ...won]);
    expect(await takeEvents(stores)).toHaveLength(1);
  });

  testOnBoth(
    'a session that a person begins while being removed ends with the removal',
    async () => {
      for (let time = 0; time < 5; time++) {
        const { id } = await added();
        const links = await Promise.all(Array.from({ length: 5 }, () => newLink(stores, id)));
        const start = (linkHash: string) => {
          const proof = { way: 'link', linkHash } as const;
          return stores.secondProcess.sessions.start({ ...sessionOf(id), proof, events: [] });
        };
        const { lost } = await race(6, (n) => (n === 5 ? remove(id) : start(links[n]!)));
        expect(lost).toEqual(lost.map(() => 'sign_in_link_invalid'));
        expect(await people.find(id)).toBeUndefined();
        expect(await stores.sessions.list(id)).toEqual([]);
      }
    },
  );
});

test.each(databaseKinds)(
  'a password change on %s ends no session when its event cannot be stored',
  async (kind) => {
    const failing = (type: string) => (type === 'password_changed' ? refuse() : []);
    const stores = await openStores(kind, { subscribersOf: failing });
    const { person, session, linkHash } = await signedInPerson(stores, await newAccount(stores));
    const { session: other } = await letIn(stores, sessionOf(person.id));
    const changing = stores.people.changePassword(person.id, session.id, (its) =>
      changePassword(its, 'hash', now),
    );
    await expect(changing).rejects.toBe(refusal);
    expect(await stores.people.find(person.id)).toEqual(person);
    expect(await stores.sessions.list(person.id)).toEqual(expect.arrayContaining([session, other]));
    expect(await stores.signInLinks.personIdOf(linkHash, now)).toBe(person.id);
    await stores.close();
  },
);
