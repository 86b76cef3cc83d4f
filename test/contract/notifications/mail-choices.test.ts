import { beforeEach, expect } from '@jest/globals';
import type { NotificationKind } from '../../../src/notifications/domain/notification.ts';
import { newAccount, personDecision } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('choices of mail', (stores) => {
  const { mailChoices: choices } = stores;
  let accountId: string;
  let ada: string;
  let bob: string;
  beforeEach(async () => {
    accountId = await newAccount(stores);
    ada = (await stores.people.list(accountId))[0]!.id;
    const person = personDecision(accountId);
    await stores.people.add(person);
    bob = person.state.id;
  });
  const kinds = (...all: NotificationKind[]): ReadonlySet<NotificationKind> => new Set(all);
  const offOf = async (id: string) => [...((await choices.off([id])).get(id) ?? [])].sort();

  test('every mail is on until a person turns it off', async () => {
    expect(await choices.off([ada, bob])).toEqual(new Map());
    expect(await choices.off([])).toEqual(new Map());
    await choices.choose(ada, kinds('domain.live', 'key.banned'));
    expect(await choices.off([ada, bob])).toEqual(
      new Map([[ada, kinds('domain.live', 'key.banned')]]),
    );
  });

  testOnBoth('the last choice counts', async () => {
    await choices.choose(ada, kinds('domain.live', 'key.banned'));
    await choices.choose(ada, kinds('key.banned', 'quota.reached'));
    expect(await offOf(ada)).toEqual(['key.banned', 'quota.reached']);
    await choices.choose(ada, kinds());
    expect(await choices.off([ada])).toEqual(new Map());
  });

  testOnBoth('one kind can be switched off alone, any number of times at once', async () => {
    await choices.choose(ada, kinds('domain.live'));
    expect(
      (await race(20, () => choices.switchOff(ada, ['key.banned', 'domain.live']))).lost,
    ).toEqual([]);
    expect(await offOf(ada)).toEqual(['domain.live', 'key.banned']);
  });

  test('a missing or removed person has no choices', async () => {
    await choices.choose('pers_nobody', kinds('domain.live'));
    await choices.switchOff('pers_nobody', ['domain.live']);
    expect(await offOf('pers_nobody')).toEqual([]);
    await choices.choose(bob, kinds('domain.live'));
    await stores.people.remove(accountId, bob, () => []);
    expect(await offOf(bob)).toEqual([]);
    await choices.choose(ada, kinds('key.banned'));
    expect(await offOf(ada)).toEqual(['key.banned']);
  });
});
