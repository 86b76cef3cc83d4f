import type { Sealer } from '../../../kernel/sealer.ts';
import type { Certificate, Validity } from '../../../domains/domain/certificates/certificate.ts';
import type { Certificates } from '../../../domains/certificate-ports.ts';
import { SealingStore } from '../store.ts';
import { nextEdgeRevision } from './edge-revision.ts';
import { forgetOrder } from './kysely-certificate-orders.ts';
import type { Queries } from '../database.ts';
import { present } from '../column.ts';
import { fromMillis, toMillis, type RowOf } from '../schema.ts';
import { sealedColumns } from '../sealed-columns.ts';

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
  { host, chain, privateKey, notBefore, notAfter }: Certificate,
): Promise<void> => {
  const row = {
    host,
    chain,
    ...sealedColumns(sealer, 'certificates', host, privateKey),
    not_before: toMillis(notBefore),
    not_after: toMillis(notAfter),
  } satisfies RowOf<Certificate>;
  const revision = await nextEdgeRevision(db);
  await db.deleteFrom('certificates').where('host', '=', host).execute();
  await db
    .insertInto('certificates')
    .values({ ...row, revision })
    .execute();
};

/** Deletes the private key immediately. Removing an absent certificate is no error. */
export const removeCertificate = async (
  db: Queries,
  host: string,
  removedAt: Date,
): Promise<void> => {
  const revision = await nextEdgeRevision(db);
  const nothing = {
    chain: null,
    private_key: null,
    sealed_by: null,
    not_before: null,
    not_after: null,
  };
  await db
    .updateTable('certificates')
    .set({ ...nothing, revision, removed_at: toMillis(removedAt) })
    .where('host', '=', host)
    .where('removed_at', 'is', null)
    .execute();
};

export const validityFrom = (row: {
  readonly not_before: bigint | null;
  readonly not_after: bigint | null;
}): Validity => ({
  notBefore: fromMillis(present('not_before', row.not_before)),
  notAfter: fromMillis(present('not_after', row.not_after)),
});
