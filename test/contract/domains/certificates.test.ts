import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import {
  KyselyCertificates,
  removeCertificate,
} from '../../../src/adapters/kysely/sites/kysely-certificates.ts';
import { KyselyEdgeRecords } from '../../../src/adapters/kysely/sites/kysely-edge-records.ts';
import { AesGcmSealer } from '../../../src/adapters/system/aes-gcm-sealer.ts';
import { later } from '../../support/accounts.ts';
import { usualKinds, openDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';
import { certificateFor } from '../../support/sites/sites.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { testSealer } from '../../support/stores.ts';
import { certificatesContract } from './certificates.contract.ts';

describeStores('certificates', certificatesContract);

describe.each(usualKinds)('private keys in %s', (kind) => {
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

  const [cats, dogs] = [certificateFor('cats.example'), certificateFor('dogs.example')];
  const saveBoth = async () => {
    const certificates = new KyselyCertificates(database, testSealer);
    for (const certificate of [cats, dogs]) await certificates.save(certificate);
  };
  const loaded = async (sealer = testSealer) => {
    const { certificates } = await new KyselyEdgeRecords(database, sealer).changesSince(0n);
    return new Map(certificates.map(({ host, privateKey }) => [host, privateKey]));
  };
  const stored = () =>
    database.root.selectFrom('certificates').selectAll().orderBy('host').execute();

  test('are stored sealed, with no part in plain text', async () => {
    await saveBoth();
    const rows = await stored();
    expect(rows.map(({ host, chain }) => ({ host, chain }))).toEqual(
      [cats, dogs].map(({ host, chain }) => ({ host, chain })),
    );
    const everything = rows.flatMap((row) => Object.values(row).map(String)).join('\n');
    for (const line of [cats, dogs].flatMap(({ privateKey }) => privateKey.trim().split('\n')))
      expect(everything).not.toContain(line);
  });

  test('are gone from the database when their certificate is removed', async () => {
    await saveBoth();
    await database.transaction((db) => removeCertificate(db, 'cats.example', later(0)));
    const nothing = { chain: null, private_key: null, not_before: null, not_after: null };
    expect(await stored()).toEqual([
      expect.objectContaining({ host: 'cats.example', ...nothing }),
      expect.objectContaining({ host: 'dogs.example', removed_at: null }),
    ]);
  });

  test('open for their own host only, and one that fails to open does not affect others', async () => {
    await saveBoth();
    const [first] = await stored();
    await database.root
      .updateTable('certificates')
      .set({ private_key: first?.private_key ?? '' })
      .execute();
    const keys = await loaded();
    expect(keys.get('cats.example')?.()).toBe(cats.privateKey);
    expect(keys.get('dogs.example')).toThrow('certificate of dogs.example');
  });

  test('do not open with another secret', async () => {
    await saveBoth();
    const keys = await loaded(new AesGcmSealer(Buffer.from('another secret')));
    expect([...keys.keys()]).toEqual(['cats.example', 'dogs.example']);
    for (const open of keys.values()) expect(open).toThrow('another secret key');
  });
});
