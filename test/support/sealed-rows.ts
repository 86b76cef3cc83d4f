import { KyselyAuthorityAccounts } from '../../src/adapters/kysely/sites/kysely-authority-accounts.ts';
import { KyselyCertificateOrders } from '../../src/adapters/kysely/sites/kysely-certificate-orders.ts';
import { KyselyEdgeRecords } from '../../src/adapters/kysely/sites/kysely-edge-records.ts';
import type { Database } from '../../src/adapters/kysely/database.ts';
import { sealedColumns } from '../../src/adapters/kysely/sealed-columns.ts';
import type { Sealer } from '../../src/kernel/sealer.ts';

const directoryUrl = 'https://acme.example/directory';
const padded = (at: number): string => String(at).padStart(6, '0');
const hostAt = (at: number): string => `site-${padded(at)}.example`;
const secretOf = (host: string): string => `private key of ${host}`;

/** Certificates for so many hosts, an order under way and an account at an authority, as a service seals them. */
export const fillSealed = async (
  { root }: Database,
  sealer: Sealer,
  hosts: number,
): Promise<void> => {
  const times = { chain: 'chain', not_before: 0n, not_after: 8_000_000_000_000n };
  const rows = Array.from({ length: hosts }, (_, at) => ({
    host: hostAt(at),
    ...times,
    ...sealedColumns(sealer, 'certificates', hostAt(at), secretOf(hostAt(at))),
    revision: BigInt(at + 1),
  }));
  await root.transaction().execute(async (db) => {
    for (let at = 0; at < rows.length; at += 500) {
      await db
        .insertInto('certificates')
        .values(rows.slice(at, at + 500))
        .execute();
    }
    await db
      .updateTable('edge_revision')
      .set({ revision: BigInt(hosts) })
      .execute();
    const order = sealedColumns(sealer, 'certificate_orders', 'site:shop', secretOf('the order'));
    const values = { subject: 'site:shop', host: 'shop.example', ...order };
    await db.insertInto('certificate_orders').values(values).execute();
    const account = sealedColumns(sealer, 'authority_accounts', directoryUrl, secretOf('account'));
    const its = { directory_url: directoryUrl, url: 'https://acme.example/1', ...account };
    await db.insertInto('authority_accounts').values(its).execute();
  });
};

/** How many of them a process with these keys opens unchanged. @throws Error for the first that does not open */
export const openedBy = async (database: Database, sealer: Sealer): Promise<number> => {
  const { certificates } = await new KyselyEdgeRecords(database, sealer).changesSince(0n);
  const right = certificates.filter(({ host, privateKey }) => privateKey() === secretOf(host));
  const order = await new KyselyCertificateOrders(database, sealer).find('site:shop');
  const account = await new KyselyAuthorityAccounts(database, sealer).find(directoryUrl);
  return (
    right.length +
    Number(order?.privateKey === secretOf('the order')) +
    Number(account?.privateKey === secretOf('account'))
  );
};
