import { expect, test } from '@jest/globals';
import type { Mail } from '../../../src/notifications/domain/mail.ts';
import { later, newAccount } from '../../support/accounts.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { openStores } from '../../support/stores.ts';
import { mailsContract } from './mails.contract.ts';

describeStores('mails', mailsContract);

test.each(databaseKinds)(
  'workers hear of a new mail in %s at once, and of one that is known already not again',
  async (kind) => {
    const heard: string[] = [];
    const stores = await openStores(kind, { onMail: (accountId) => heard.push(accountId) });
    const accountId = await newAccount(stores);
    const [person] = await stores.people.list(accountId);
    const about = { project: 'birds', number: 7, explanation: 'There is no index.html.' };
    const mail: Mail = {
      ...{ id: 'evt_1', accountId, personId: person!.id, to: person!.email },
      occurredAt: later(0),
      ...({ kind: 'deploy.failed', about } as const),
    };
    const plan = () => ({ message: mail.id, sendAt: later(0) });
    for (let times = 0; times < 2; times += 1) await stores.mails.add(mail, later(0), plan);
    await stores.mails.add({ ...mail, id: 'evt_2' }, later(0), () => undefined);
    expect(heard).toEqual([accountId]);
    await stores.close();
  },
);
