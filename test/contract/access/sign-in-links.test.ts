import { beforeEach, expect } from '@jest/globals';
import type { AccessEvent } from '../../../src/access/domain/access-event.ts';
import type { SignInLinks } from '../../../src/access/people-ports.ts';
import { later, newAccount, now, takeEvents } from '../../support/accounts.ts';
import { letIn, newHash, newLink, sessionOf } from '../../support/access/people.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('sign-in links', (stores) => {
  const { signInLinks: links } = stores;
  let personId: string;
  beforeEach(async () => {
    personId = (await stores.people.list(await newAccount(stores)))[0]!.id;
  });

  const added = (endsAt = later(1000)): Promise<string> => newLink(stores, personId, endsAt);
  const told: AccessEvent = {
    type: 'sign_in_link_made',
    accountId: 'acct_zoo',
    occurredAt: now,
    personId: 'pers_mia',
    email: 'mia@shop.example',
  };
  const both = () => [links, stores.secondProcess.signInLinks];

  test('links identify their person, in every process and any number of times', async () => {
    const hashes = [await added(), await added()];
    for (const those of [...both(), ...both()]) {
      for (const hash of hashes) expect(await those.personIdOf(hash, now)).toBe(personId);
    }
  });

  test('every process knows whether a link resets a password', async () => {
    const resets = await newLink(stores, personId, later(5), true);
    const plain = await newLink(stores, personId, later(5), false);
    for (const those of both()) {
      expect(await those.resetsPassword(resets)).toBe(true);
      expect(await those.resetsPassword(plain)).toBe(false);
      expect(await those.resetsPassword(newHash())).toBe(false);
    }
  });

  test('a link is found by the hash of its secret only', async () => {
    const secretHash = await added();
    for (const other of [secretHash.toUpperCase(), personId, '', newHash()]) {
      expect(await links.personIdOf(other, now)).toBeUndefined();
    }
    expect(await links.personIdOf(secretHash, now)).toBe(personId);
  });

  test('a link works until its end and not after', async () => {
    const [first, second] = [await added(later(5)), await added(later(5))];
    expect(await links.personIdOf(first, later(4))).toBe(personId);
    expect(await links.personIdOf(second, later(5))).toBeUndefined();
    expect(await links.personIdOf(second, later(6))).toBeUndefined();
  });

  test('a link for an unknown person is not stored', async () => {
    const secretHash = newHash();
    const adding = links.add(
      { secretHash, personId: 'pers_nobody', endsAt: later(5), resetsPassword: false },
      [told],
    );
    await expect(adding).rejects.toHaveProperty('code', 'person_not_found');
    expect(await links.personIdOf(secretHash, now)).toBeUndefined();
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('a link is stored together with its event', async () => {
    await links.add({ secretHash: newHash(), personId, endsAt: later(5), resetsPassword: false }, [
      told,
    ]);
    expect(await takeEvents(stores)).toEqual([told]);
  });

  test('once a newcomer has joined, a link for newcomers is refused in every process', async () => {
    const add = (those: SignInLinks, secretHash: string) =>
      those.add(
        { secretHash, personId, endsAt: later(5), resetsPassword: false },
        [told],
        'newcomer',
      );
    const early = newHash();
    await add(links, early);
    await letIn(stores, sessionOf(personId));
    await takeEvents(stores);
    const late = newHash();
    for (const those of both()) {
      await expect(add(those, late)).rejects.toHaveProperty('code', 'person_joined');
    }
    expect(await links.personIdOf(late, now)).toBeUndefined();
    expect(await takeEvents(stores)).toEqual([]);
    // An older link no longer works.
    expect(await links.personIdOf(early, now)).toBeUndefined();
    expect(await links.personIdOf(await added(), now)).toBe(personId);
  });

  testOnBoth(
    'when a newcomer signs in while a colleague creates a link, no link remains',
    async () => {
      for (let time = 0; time < 5; time++) {
        personId = (await stores.people.list(await newAccount(stores)))[0]!.id;
        const linkHash = await added();
        const rival = newHash();
        const { lost } = await race(2, (n) =>
          n === 0
            ? both()[1]!.add(
                { secretHash: rival, personId, endsAt: later(5), resetsPassword: false },
                [],
                'newcomer',
              )
            : stores.sessions.start({
                ...sessionOf(personId, { way: 'link' }),
                proof: { way: 'link', linkHash },
                events: [],
              }),
        );
        expect(lost).toEqual(lost.map(() => 'person_joined'));
        expect(await links.personIdOf(rival, now)).toBeUndefined();
      }
    },
  );

  testOnBoth('a sweep deletes the links that ended before a given time', async () => {
    await stores.retention.sweep('sign_in_links', later(1e12));
    const [first, second] = [await added(later(1)), await added(later(2))];
    expect(await stores.retention.sweep('sign_in_links', later(1))).toBe(0);
    expect(await stores.retention.sweep('sign_in_links', later(2))).toBe(1);
    expect(await links.personIdOf(first, now)).toBeUndefined();
    expect(await links.personIdOf(second, now)).toBe(personId);
    expect(await stores.retention.sweep('sign_in_links', later(3))).toBe(1);
    expect(await stores.retention.sweep('sign_in_links', later(3))).toBe(0);
  });
});
