import { sql, type Selectable } from 'kysely';
import type { Sealer } from '../../../kernel/ports.ts';
import type { Certificate, Validity } from '../../../domains/domain/certificates/renewal.ts';
import type { Certificates, OwnNames } from '../../../domains/certificate-ports.ts';
import type { CaUse, LedgerName } from '../../../domains/domain/certificates/ca-budget.ts';
import { ownSubject, type OwnChange, type OwnName } from '../../../domains/domain/own/own-name.ts';
import { changed, SealingStore, Store } from '../store.ts';
import type { Queries, Schema } from '../database.ts';
import { present } from '../table.ts';
import { sealedColumns } from '../sealed-values.ts';
import { nextEdgeRevision } from './project-routes.ts';
import { forgetOrder, writeWorkDone, takeTurn, useOf } from './kysely-certificate-orders.ts';
import { certificates, ownNames } from './tables.ts';

export class KyselyCertificates extends Store implements Certificates {
  async find(host: string): Promise<{ readonly chain: string } | undefined> {
    const row = await this.db
      .selectFrom('certificates')
      .select('chain')
      .where('host', '=', host)
      .executeTakeFirst();
    return typeof row?.chain === 'string' ? { chain: row.chain } : undefined;
  }
}

/** Stores the certificate. Call it last; see `nextEdgeRevision`. */
export const storeCertificate = async (
  db: Queries,
  sealer: Sealer,
  { privateKey, ...certificate }: Certificate,
): Promise<void> => {
  const { host } = certificate;
  const sealed = sealedColumns(sealer, 'certificates', { key: host, secret: privateKey });
  const revision = await nextEdgeRevision(db);
  await db.deleteFrom('certificates').where('host', '=', host).execute();
  await db
    .insertInto('certificates')
    .values({ ...certificates.write({ ...certificate, revision }), ...sealed })
    .execute();
};

/** Deletes the private key immediately. Does nothing if there is no certificate. */
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

export class KyselyOwnNames extends SealingStore implements OwnNames {
  readonly #all = this.database.prepare<Record<string, never>, Selectable<Schema['own_names']>>(
    (db) => db.selectFrom('own_names').selectAll(),
  );

  async all(): Promise<readonly OwnName[]> {
    return (await this.#all({})).map(ownNameFrom);
  }

  async find(host: string): Promise<OwnName | undefined> {
    const row = await this.db
      .selectFrom('own_names')
      .selectAll()
      .where('host', '=', host)
      .executeTakeFirst();
    return row && ownNameFrom(row);
  }

  change<Change extends OwnChange>(
    host: string,
    decide: (name: OwnName | undefined) => Change,
  ): Promise<Change> {
    return this.database.transaction((db) =>
      changed(db, () => this.#lock(db, host), decide, this.#write),
    );
  }

  changeCounted<Change extends OwnChange>(
    name: LedgerName,
    now: Date,
    decide: (name: OwnName | undefined, use: CaUse) => Change,
  ): Promise<Change> {
    return this.database.transaction(async (db) => {
      // Also ensures that only one of several workers stores a name first.
      await takeTurn(db);
      const use = await useOf(db, name, now);
      return this.change(name.host, (current) => decide(current, use));
    });
  }

  async forget(host: string, now: Date, isOver: (name: OwnName) => boolean): Promise<boolean> {
    const ended = await this.database.transaction((db) =>
      changed(
        db,
        () => this.#lock(db, host),
        (name) => (name && isOver(name) ? name : undefined),
        async (name) => {
          await forgetOrder(db, ownSubject(name));
          await db.deleteFrom('own_names').where('host', '=', host).execute();
          await removeCertificate(db, host, now);
        },
      ),
    );
    return ended !== undefined;
  }

  async #lock(db: Queries, host: string): Promise<OwnName | undefined> {
    const row = await db
      .selectFrom('own_names')
      .selectAll()
      .where('host', '=', host)
      .$call(this.database.engine.locked)
      .executeTakeFirst();
    return row && ownNameFrom(row);
  }

  readonly #write = async (change: OwnChange, db: Queries): Promise<void> => {
    const row = ownNameRow(change.name);
    const values = { generation: sql`${row.generation}`, details: sql`${row.details}` };
    await this.database.engine
      .upsert({
        insert: db.insertInto('own_names').values(row),
        key: ['host'],
        change: values,
      })
      .execute();
    await writeWorkDone(db, change);
    if (change.certificate) await storeCertificate(db, this.sealer, change.certificate);
  };
}

type Row = Selectable<Schema['own_names']>;

const ownNameRow = ({ host, generation, ...details }: OwnName): Row =>
  ownNames.write({ host, generation, details });

/** @throws Error when the row is corrupt */
const ownNameFrom = (row: Row): OwnName => {
  const { details, ...name } = ownNames.read(row);
  return { ...name, ...details };
};
