import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import {
  KyselyAuthorityAccounts,
  KyselyCertificateOrders,
} from '../../../src/adapters/kysely/sites/kysely-certificate-orders.ts';
import { AesGcmSealer } from '../../../src/adapters/system/aes-gcm-sealer.ts';
import { usualKinds, openDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';
import { certificateFor } from '../../support/sites/sites.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { testSealer } from '../../support/stores.ts';
import { authorityAccountsContract } from './authority-accounts.contract.ts';
import { keptOrdersContract } from './kept-orders.contract.ts';

describeStores('orders of certificates', keptOrdersContract);

describeStores('accounts at authorities', authorityAccountsContract);

describe.each(usualKinds)('private keys of orders and accounts in %s', (kind) => {
  let home: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    home = await migratedDatabase(kind);
    database = openDatabase(home.url);
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });

  const tables = ['certificate_orders', 'authority_accounts'] as const;
  const { privateKey } = certificateFor('cats.example');
  const keeps = (sealer = testSealer) => ({
    orders: new KyselyCertificateOrders(database, sealer),
    accounts: new KyselyAuthorityAccounts(database, sealer),
  });
  const saveTwoEach = async () => {
    const { orders, accounts } = keeps();
    for (const name of ['cats', 'dogs']) {
      await orders.begin({ authority: '', subject: name, host: `${name}.example`, privateKey });
      await accounts.save(name, { url: `https://ca.test/${name}`, privateKey });
    }
  };
  const stored = async (table: (typeof tables)[number]) =>
    database.root.selectFrom(table).selectAll().execute();

  test('are stored sealed, with no part in plain text', async () => {
    await saveTwoEach();
    for (const table of tables) {
      const everything = (await stored(table)).flatMap((row) => Object.values(row).map(String));
      expect(everything).toEqual(expect.arrayContaining(['cats', 'dogs']));
      for (const line of privateKey.trim().split('\n'))
        expect(everything.join('\n')).not.toContain(line);
    }
  });

  test('open in their own place only', async () => {
    await saveTwoEach();
    for (const table of tables) {
      const [first] = await stored(table);
      await database.root
        .updateTable(table)
        .set({ private_key: first?.private_key ?? '' })
        .execute();
    }
    const { orders, accounts } = keeps();
    expect(await orders.find('cats')).toHaveProperty('privateKey', privateKey);
    expect(await accounts.find('cats')).toHaveProperty('privateKey', privateKey);
    await expect(orders.find('dogs')).rejects.toThrow('order of dogs');
    await expect(accounts.find('dogs')).rejects.toThrow('account at dogs');
  });

  test('do not open with another secret', async () => {
    await saveTwoEach();
    const { orders, accounts } = keeps(new AesGcmSealer(Buffer.from('another secret')));
    await expect(orders.find('cats')).rejects.toThrow('another secret key');
    await expect(accounts.find('cats')).rejects.toThrow('another secret key');
  });
});
