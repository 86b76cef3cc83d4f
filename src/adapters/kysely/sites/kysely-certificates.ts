import type { Sealer } from '../../../kernel/sealer.ts';
import type { Certificate, Validity } from '../../../domains/domain/certificates/renewal.ts';
import type { Certificates } from '../../../domains/certificate-ports.ts';
import { SealingStore } from '../store.ts';
import { nextEdgeRevision } from './edge-revision.ts';
import { forgetOrder } from './kysely-certificate-orders.ts';
import type { Queries } from '../database.ts';
import { present } from '../column.ts';
import { sealedColumns } from '../sealed-columns.ts';
import { certificates } from './tables.ts';

export class KyselyCertificates extends SealingStore implements Certificates {
  async save(certificate: Certificate, endsOrder?: string): Promise<void> {
    await this.database.transaction(async (db) => {
      if (endsOrder !== undefined) await forgetOrder(db, endsOrder);
      await storeCertificate(db, this.sealer, certificate);
    });
  }

  async find(host: string): Promise<{ readonly chain: string } | undefined> {
    const row = await this.db
      .selectFrom('certificates')
      .select('chain')
      .where('host', '=', host)
      .executeTakeFirst();
    return typeof row?.chain === 'string' ? { chain: row.chain } : undefined;
  }

  async validities(): Promise<ReadonlyMap<string, Validity>> {
    const rows = await this.db
      .selectFrom('certificates')
      .select(['host', 'not_before', 'not_after'])
      .where('removed_at', 'is', null)
      .execute();
    return new Map(rows.map((row) => [row.host, validityFrom(row)]));
  }
}

/** For the other adapters of this folder, last in their transaction: see `nextEdgeRevision`. */
export const storeCertificate = async (
  db: Queries,
  sealer: Sealer,
  { privateKey, ...certificate }: Certificate,
): Promise<void> => {
  const { host } = certificate;
  const sealed = sealedColumns(sealer, 'certificates', host, privateKey);
  const revision = await nextEdgeRevision(db);
  await db.deleteFrom('certificates').where('host', '=', host).execute();
  await db
    .insertInto('certificates')
    .values({ ...certificates.write({ ...certificate, revision }), ...sealed })
    .execute();
};

/** Deletes the private key immediately. Removing an absent certificate is no error. */
export const removeCertificate = async (
  db: Queries,
  host: string,
  removedAt: Date,
): Promise<void> => {
  const revision = await nextEdgeRevision(db);
  await db
    .updateTable('certificates')
    .set(certificates.write({ ...nothing, revision, removedAt }))
    .where('host', '=', host)
    .where('removed_at', 'is', null)
    .execute();
};

const nothing = {
  chain: undefined,
  privateKey: undefined,
  sealedBy: undefined,
  notBefore: undefined,
  notAfter: undefined,
};

const validity = certificates.only('notBefore', 'notAfter');

export const validityFrom = (row: Parameters<typeof validity.read>[0]): Validity => {
  const { notBefore, notAfter } = validity.read(row);
  return {
    notBefore: present('not_before', notBefore),
    notAfter: present('not_after', notAfter),
  };
};
