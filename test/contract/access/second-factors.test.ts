import { beforeEach, expect } from '@jest/globals';
import { type Person, removePerson } from '../../../src/access/domain/person.ts';
import {
  acceptStep,
  addApp,
  addPasskey,
  noFactor,
  removeMethod,
  replaceRecoveryCodes,
} from '../../../src/access/domain/second-factor.ts';
import { later, newAccount, now, personDecision, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('second factors', (stores) => {
  let mia: Person;
  beforeEach(async () => {
    const accountId = await newAccount(stores);
    const decision = personDecision(accountId);
    await stores.people.add(decision);
    mia = decision.state;
    await takeEvents(stores);
  });

  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const setUp = () =>
    stores.secondFactors.change(mia.id, (factor, person) =>
      addApp(factor, person, { secret, step: 7, now }),
    );
  const passkey = { id: 'cred_1', name: 'Läptop', publicKey: 'key', counter: 3 };

  testOnBoth('are read back unchanged, with their events and start date', async () => {
    expect(await stores.secondFactors.find(mia.id)).toEqual(noFactor(mia.id));
    await setUp();
    const shown = { passkey, challengedAt: later(5), now: later(9) };
    await stores.secondFactors.change(mia.id, (factor, person) =>
      addPasskey(factor, person, shown),
    );
    const recovery = ['a'.repeat(64), 'b'.repeat(64)];
    const stored = await stores.secondFactors.change(mia.id, (factor, person) =>
      replaceRecoveryCodes(factor, person, { recovery, now }),
    );
    expect(await stores.secondProcess.secondFactors.find(mia.id)).toEqual(stored);
    expect(stored).toMatchObject({ recovery, challengedUntil: later(5), app: { secret } });
    expect((await stores.people.find(mia.id))?.factorSince).toEqual(now);
    expect((await takeEvents(stores)).map(({ type }) => type)).toEqual([
      ...['second_factor_added', 'second_factor_added', 'recovery_codes_made'],
    ]);
  });

  test('are part of the person while any exist', async () => {
    await setUp();
    await stores.secondFactors.change(mia.id, (factor, person) =>
      removeMethod(factor, person, { method: 'app', now }),
    );
    expect((await stores.people.find(mia.id))?.factorSince).toBeUndefined();
  });

  testOnBoth('when twenty requests use the same code at once, one succeeds', async () => {
    await setUp();
    const all = [stores, stores.secondProcess];
    const { won, lost } = await race(20, (n) =>
      all[n % 2]!.secondFactors.change(mia.id, (factor) => acceptStep(factor, 8)),
    );
    expect(won).toHaveLength(1);
    expect(new Set(lost)).toEqual(new Set(['factor_refused']));
  });

  test('are removed with their person', async () => {
    await setUp();
    await stores.people.remove(mia.accountId, mia.id, (all) => removePerson(all, mia.id, now));
    expect(await stores.secondFactors.find(mia.id)).toEqual(noFactor(mia.id));
    const late = setUp();
    await expect(late).rejects.toHaveProperty('code', 'person_not_found');
  });
});
