import { expect, test } from '@jest/globals';
import { KyselyRetention } from '../../../src/adapters/kysely/kysely-retention.ts';
import { retention } from '../../../src/app/retention.ts';
import type { Mail } from '../../../src/notifications/domain/mail.ts';
import { later, newAccount } from '../../support/accounts.ts';
import { databaseKinds, openDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';
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

test.each(databaseKinds)(
  'what somebody whom version 1.0.0 removed chose, and that mail does not reach them, is forgotten in %s',
  async (kind) => {
    const home = await migratedDatabase(kind);
    const database = openDatabase(home.url);
    const troubles = ['pers_gone', 'pers_late'].map((person_id, at) => ({
      ...{ person_id, since: BigInt(at), reason: 'no such user' },
    }));
    await database.db.insertInto('mail_troubles').values(troubles).execute();
    const chosen = [
      ...['key.banned', 'domain.live'].map((kind_off) => ({ person_id: 'pers_gone', kind_off })),
      { person_id: 'pers_late', kind_off: 'key.banned' },
    ];
    await database.db.insertInto('mail_choices').values(chosen).execute();
    const sweeping = new KyselyRetention(database, retention, 1);
    let slices = 0;
    const first = await sweeping.sweep('mail_choices', new Date(1), () => slices++ > 0);
    expect([1, 2]).toContain(first);
    for (const left of [3 - first, 0]) {
      expect(await sweeping.sweep('mail_choices', new Date(1))).toBe(left);
    }
    expect(await sweeping.sweep('mail_troubles', new Date(1))).toBe(1);
    const left = await database.db.selectFrom('mail_troubles').select('person_id').execute();
    expect(left).toEqual([{ person_id: 'pers_late' }]);
    await database.close();
    await home.drop();
  },
);
