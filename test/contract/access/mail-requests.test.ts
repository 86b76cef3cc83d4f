import { expect, test } from '@jest/globals';
import { later, newAccount, now } from '../../support/accounts.ts';
import { newHash } from '../../support/access/people.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { openStores } from '../../support/stores.ts';
import { mailRequestsContract } from './mail-requests.contract.ts';

describeStores('the requests for mails', mailRequestsContract);

test.each(databaseKinds)(
  'what an answer stores in %s is gone if the answer fails',
  async (kind) => {
    const stores = await openStores(kind);
    const personId = (await stores.people.list(await newAccount(stores)))[0]!.id;
    const request = { id: 'mreq_1', reason: 'sign_in', email: 'mia@shop.example' } as const;
    const asked = { source: 'network:203.0.113.7', device: undefined, turn: 1 };
    await stores.mailRequests.add({ ...request, personId: undefined, askedAt: now, ...asked });
    const secretHash = newHash();
    const answering = stores.mailRequests.answer('mreq_1', now, async () => {
      await stores.signInLinks.add(
        { secretHash, personId, endsAt: later(5), resetsPassword: true },
        [],
      );
      throw new Error('killed');
    });
    await expect(answering).rejects.toThrow('killed');
    expect(await stores.signInLinks.personIdOf(secretHash, now)).toBeUndefined();
    expect(await stores.mailRequests.waiting(10)).toHaveLength(1);
    await stores.close();
  },
);
