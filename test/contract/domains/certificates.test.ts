import { expect, test } from '@jest/globals';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import type { Certificate } from '../../../src/domains/domain/certificates/renewal.ts';
import {
  removeCertificate,
  storeCertificate,
} from '../../../src/adapters/kysely/sites/kysely-certificates.ts';
import { KyselyEdgeRecords } from '../../../src/adapters/kysely/sites/kysely-edge-records.ts';
import { later } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { certificateFor } from '../../support/sites/sites.ts';
import type { StoragePorts } from '../../support/storage-ports.ts';
import { describeStores, testOnBoth, describeDatabases } from '../../support/store-contracts.ts';
import { testSealer } from '../../support/stores.ts';
import { usualKinds } from '../../support/servers/databases.ts';

const ids = new UuidIds();
const newHost = () => `${ids.next('www').replace('_', '-')}.shop.example`;

describeStores('certificates', (stores) => {
  const { certificates } = stores;

  /** Certificates as an edge gets them, with decrypted private keys. */
  const loaded = async (
    host: string,
    { edgeRecords }: Pick<StoragePorts, 'edgeRecords'> = stores,
  ): Promise<readonly Certificate[]> =>
    (await edgeRecords.changesSince(0n)).certificates
      .filter((one) => one.host === host)
      .map(({ privateKey, ...certificate }) => ({ ...certificate, privateKey: privateKey() }));

  testOnBoth('a certificate is loaded as it was saved, by each process', async () => {
    const host = `${'a'.repeat(63)}.`.repeat(4).slice(0, 253);
    const certificate = certificateFor(host, {
      chain: '-----BEGIN CERTIFICATE-----\r\nü+/=\n'.repeat(2000),
      privateKey: `${'+/='.repeat(2000)}\n`,
      notBefore: new Date(-1),
      notAfter: new Date(8.64e15),
    });
    await stores.edgeWriter.saveCertificate(certificate);
    expect(await loaded(host)).toEqual([certificate]);
    expect(await loaded(host, stores.secondProcess)).toEqual([certificate]);
  });

  test('looking up a host returns its newest chain and no secret', async () => {
    const [first, neighbour] = [certificateFor(newHost()), certificateFor(newHost())];
    const second = certificateFor(first.host);
    for (const certificate of [first, neighbour, second])
      await stores.edgeWriter.saveCertificate(certificate);
    for (const reader of [certificates, stores.secondProcess.certificates]) {
      expect(await reader.find(first.host)).toEqual({ chain: second.chain });
      expect(await reader.find(neighbour.host)).toEqual({ chain: neighbour.chain });
    }
  });

  test('a host without a certificate, or with a removed one, is not found', async () => {
    const { host } = certificateFor(newHost());
    expect(await certificates.find(host)).toBeUndefined();
    await stores.edgeWriter.saveCertificate(certificateFor(host));
    await stores.edgeWriter.removeCertificate(host, later(0));
    expect(await certificates.find(host)).toBeUndefined();
  });

  testOnBoth('a new certificate replaces the previous one of its host only', async () => {
    const [first, neighbour] = [certificateFor(newHost()), certificateFor(newHost())];
    const second = certificateFor(first.host, { notBefore: later(1), notAfter: later(2) });
    for (const certificate of [first, neighbour, second])
      await stores.edgeWriter.saveCertificate(certificate);
    expect(await loaded(first.host)).toEqual([second]);
    expect(await loaded(neighbour.host)).toEqual([neighbour]);
  });

  testOnBoth(
    'when twenty certificates are saved for one host at once, one stays complete',
    async () => {
      const host = newHost();
      const processes = [stores.edgeWriter, stores.secondProcess.edgeWriter];
      const { won, lost } = await race(20, async (n) => {
        const certificate = certificateFor(host, { notAfter: later(1000 + n) });
        await processes[n % 2]?.saveCertificate(certificate);
        return certificate;
      });
      expect(lost).toEqual([]);
      const [stays, ...others] = await loaded(host);
      expect(others).toEqual([]);
      expect(won).toContainEqual(stays);
    },
  );
});

describeDatabases('private keys', usualKinds, (database) => {
  const [cats, dogs] = [certificateFor('cats.example'), certificateFor('dogs.example')];
  const saveBoth = async () => {
    for (const certificate of [cats, dogs])
      await database.transaction((db) => storeCertificate(db, testSealer, certificate));
  };
  const loaded = async (sealer = testSealer) => {
    const { certificates } = await new KyselyEdgeRecords(database, sealer).changesSince(0n);
    return new Map(certificates.map(({ host, privateKey }) => [host, privateKey]));
  };
  const stored = () =>
    database.root.selectFrom('certificates').selectAll().orderBy('host').execute();

  test('private keys are stored sealed, with no part in plain text', async () => {
    await saveBoth();
    const rows = await stored();
    expect(rows.map(({ host, chain }) => ({ host, chain }))).toEqual(
      [cats, dogs].map(({ host, chain }) => ({ host, chain })),
    );
    const everything = rows.flatMap((row) => Object.values(row).map(String)).join('\n');
    for (const line of [cats, dogs].flatMap(({ privateKey }) => privateKey.trim().split('\n')))
      expect(everything).not.toContain(line);
  });

  test('private keys are deleted with their certificate', async () => {
    await saveBoth();
    await database.transaction((db) => removeCertificate(db, 'cats.example', later(0)));
    const nothing = { chain: null, private_key: null, not_before: null, not_after: null };
    expect(await stored()).toEqual([
      expect.objectContaining({ host: 'cats.example', ...nothing }),
      expect.objectContaining({ host: 'dogs.example', removed_at: null }),
    ]);
  });

  test('private keys can be read only for their own host, and an unreadable one does not affect others', async () => {
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
});
