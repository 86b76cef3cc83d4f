import { describe, expect, jest, test } from '@jest/globals';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import { KyselyEdgeRecords } from '../../../src/adapters/kysely/sites/kysely-edge-records.ts';
import { sealedColumns } from '../../../src/adapters/kysely/sealed-values.ts';
import { certificateFor } from '../../support/sites/sites.ts';
import { databaseKinds, openDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { testSealer } from '../../support/stores.ts';
import { edgeRecordsContract } from './edge-records.contract.ts';

describeStores('records for the edges', edgeRecordsContract);

const count = 10_000;

/** As they are stored, without the transaction that each of them would take. */
const fill = async (database: Database): Promise<void> => {
  await database.transaction(async (db) => {
    for (let first = 1; first <= count; first += 500) {
      const numbers = Array.from({ length: 500 }, (_, n) => first + n);
      await db.insertInto('routes').values(numbers.map(routeRow)).execute();
      await db.insertInto('certificates').values(numbers.map(certificateRow)).execute();
    }
    await db
      .updateTable('edge_revision')
      .set({ revision: BigInt(2 * count) })
      .execute();
  });
};

const hostOf = (number: number) => `www.shop-${number}.example`;

const routeRow = (number: number) => {
  const place = { name: hostOf(number), revision: BigInt(number) };
  return { ...place, project_id: `proj_${number}`, deploy_id: `dep_${number}` };
};

const certificateRow = (number: number) => {
  const host = hostOf(number);
  const { privateKey, chain } = certificateFor(host, { chain: 'x'.repeat(4000) });
  const sealed = sealedColumns(testSealer, 'certificates', { key: host, secret: privateKey });
  const revision = BigInt(count + number);
  return { host, chain, ...sealed, not_before: 0n, not_after: 1n, revision };
};

describe.each(databaseKinds)('records for the edges in %s', (kind) => {
  test('ten thousand routes and certificates are loaded by one call, which decrypts no key', async () => {
    const home = await migratedDatabase(kind);
    const database = openDatabase(home.url);
    await fill(database);
    const opened = jest.spyOn(testSealer, 'open');
    const edgeRecords = new KyselyEdgeRecords(database, testSealer);
    const { revision, routes, certificates } = await edgeRecords.changesSince(0n);
    await database.close();
    await home.drop();
    expect(revision).toBe(BigInt(2 * count));
    const hosts = Array.from({ length: count }, (_, n) => hostOf(n + 1));
    expect(routes.map(({ name }) => name)).toEqual(hosts);
    expect(certificates.map(({ host }) => host)).toEqual(hosts);
    expect(opened).not.toHaveBeenCalled();
    expect(certificates.at(-1)?.privateKey()).toMatch(/^-----BEGIN PRIVATE KEY/);
    expect(opened).toHaveBeenCalledTimes(1);
    opened.mockRestore();
  });
});
