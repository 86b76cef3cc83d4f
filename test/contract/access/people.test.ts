import { expect, test } from '@jest/globals';
import { changePassword } from '../../../src/access/domain/person.ts';
import { newAccount, now } from '../../support/accounts.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { letIn, signedInPerson, sessionOf } from '../../support/access/people.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { openStores } from '../../support/stores.ts';
import { passwordChangeContract } from './password-change.contract.ts';
import { peopleContract } from './people.contract.ts';

describeStores('the people', peopleContract);
describeStores('changing a password', passwordChangeContract);

test.each(databaseKinds)(
  'a password change whose event cannot be stored ends no session, on %s',
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
