import { expect, test } from '@jest/globals';
import { newAccount, now } from '../../support/accounts.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { newLink, sessionOf } from '../../support/access/people.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { openStores } from '../../support/stores.ts';
import { sessionsContract } from './sessions.contract.ts';
import { signInProofsContract } from './sign-in-proofs.contract.ts';

describeStores('the sessions', sessionsContract);
describeStores('proofs for signing in', signInProofsContract);

test.each(databaseKinds)(
  'a link is not used up by a session that cannot be stored, on %s',
  async (kind) => {
    const failing = (type: string) => (type === 'person_signed_in' ? refuse() : []);
    const stores = await openStores(kind, { subscribersOf: failing });
    const accountId = await newAccount(stores);
    const personId = (await stores.people.list(accountId))[0]!.id;
    const linkHash = await newLink(stores, personId);
    const proof = { way: 'link', linkHash } as const;
    const about = { accountId, occurredAt: now, personId };
    const events = [{ type: 'person_signed_in', ...about, way: 'link' }] as const;
    const starting = stores.sessions.start({ ...sessionOf(personId), proof, events });
    await expect(starting).rejects.toBe(refusal);
    expect(await stores.sessions.list(personId)).toEqual([]);
    expect(await stores.signInLinks.personIdOf(linkHash, now)).toBe(personId);
    await stores.close();
  },
);
