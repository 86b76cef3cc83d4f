import type { Selectable } from 'kysely';
import type { StoredWork } from '../../../domains/domain/certificates/certificate-work.ts';
import type { LedgerChange } from '../../../domains/domain/certificates/ca-budget.ts';
import { attachmentIn, subjectsOf } from '../../../domains/domain/attachment/domain-certificate.ts';
import type {
  CertificateOrders,
  Challenge,
  KeptOrder,
  PlacedOrder,
} from '../../../domains/certificate-ports.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import { SealingStore } from '../store.ts';
import { failureOf } from '../engine/failure.ts';
import { writeLedger } from './kysely-authority-ledger.ts';
import type { Queries } from '../database.ts';
import type { Schema } from '../schema.ts';
import { openColumns, sealedColumns } from '../sealed-columns.ts';

export class KyselyCertificateOrders extends SealingStore implements CertificateOrders {
  readonly #answer = this.database.prepare<
    { host: string; token: string },
    { key_authorization: string | null }
  >((db, the) =>
    db
      .selectFrom('certificate_orders')
      .select('key_authorization')
      .where('token', '=', the('token'))
      .where('host', '=', the('host')),
  );

  async find(subject: string): Promise<KeptOrder | undefined> {
    const row = await this.db
      .selectFrom('certificate_orders')
      .selectAll()
      .where('subject', '=', subject)
      .executeTakeFirst();
    return row && this.#orderFrom(row);
  }

  async begin({
    authority,
    subject,
    host,
    privateKey,
  }: Omit<KeptOrder, 'url'>): Promise<KeptOrder | undefined> {
    const row = {
      ...{ authority, subject, host },
      ...sealedColumns(this.sealer, 'certificate_orders', subject, privateKey),
    };
    try {
      // Retries a deadlock with an order that is being deleted.
      const isBegun = await this.database.transaction(async (db) => {
        if (await this.#isRemoved(attachmentIn(subject))) return false;
        await db.insertInto('certificate_orders').values(row).execute();
        return true;
      });
      if (!isBegun) return undefined;
    } catch (error) {
      if (failureOf(error) !== 'duplicate') throw error;
    }
    return this.#kept(subject);
  }

  async placed(subject: string, url: string, ledger: LedgerChange = {}): Promise<PlacedOrder> {
    await this.database.transaction(async (db) => {
      await db
        .updateTable('certificate_orders')
        .set({ url })
        .where('subject', '=', subject)
        .where('url', 'is', null)
        .execute();
      await writeLedger(db, ledger);
    });
    const kept = await this.#kept(subject);
    return { ...kept, url: kept.url ?? url };
  }

  async publish(subject: string, { token, keyAuthorization }: Challenge): Promise<void> {
    await this.db
      .updateTable('certificate_orders')
      .set({ token, key_authorization: keyAuthorization })
      .where('subject', '=', subject)
      .execute();
    await this.#kept(subject);
  }

  async forget(subject: string, ledger: LedgerChange = {}): Promise<void> {
    await this.database.transaction((db) => writeWorkDone(db, { endsOrder: subject, ledger }));
  }

  async answer(host: string, token: string): Promise<string | undefined> {
    const [row] = await this.#answer({ host, token });
    return row?.key_authorization ?? undefined;
  }

  /** Locks the domain, so that it is either removed before the order begins, or its removal deletes the order. */
  async #isRemoved(domainId: string | undefined): Promise<boolean> {
    if (domainId === undefined) return false;
    const domain = await this.database.lock('domains', domainId);
    return domain?.state === 'removed';
  }

  async #kept(subject: string): Promise<KeptOrder> {
    const kept = await this.find(subject);
    if (!kept) throw new Error(`the order of ${subject} was forgotten meanwhile`);
    return kept;
  }

  #orderFrom(row: Selectable<Schema['certificate_orders']>): KeptOrder {
    const { subject, authority, host, url } = row;
    const privateKey = openColumns(this.sealer, 'certificate_orders', subject, row);
    return {
      ...{ authority, subject, host, privateKey },
      url: url ?? undefined,
    } satisfies EveryField<KeptOrder>;
  }
}

/** For the other adapters of this folder, in their transaction: what a change of the work on a certificate leads to. */
export const writeWorkDone = async (
  db: Queries,
  { endsOrder, ledger = {} }: StoredWork,
): Promise<void> => {
  if (endsOrder !== undefined) await forgetOrder(db, endsOrder);
  await writeLedger(db, ledger);
};

/** For the other adapters of this folder, in their transaction. */
export const forgetOrder = async (db: Queries, subject: string): Promise<void> => {
  await db.deleteFrom('certificate_orders').where('subject', '=', subject).execute();
  await db.deleteFrom('dns_challenges').where('subject', '=', subject).execute();
};

/** For the other adapters of this folder, in their transaction: deletes the orders of a removed domain. */
export const forgetOrdersOf = async (db: Queries, domainId: string): Promise<void> => {
  const first = subjectsOf(domainId);
  // The range ends at ";", the character after ":".
  const end = first.replace(/:$/, ';');
  for (const table of ['certificate_orders', 'dns_challenges'] as const) {
    await db.deleteFrom(table).where('subject', '>=', first).where('subject', '<', end).execute();
  }
};
