import { sql, type Selectable } from 'kysely';
import * as v from 'valibot';
import type { CaUse, LedgerName } from '../../../domains/domain/certificates/ca-budget.ts';
import { ownSubject, type OwnChange, type OwnName } from '../../../domains/domain/own/own-name.ts';
import type { OwnNames } from '../../../domains/certificate-ports.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import type { Queries } from '../database.ts';
import type { Schema } from '../schema.ts';
import { SealingStore } from '../store.ts';
import { parseStored, perhaps, type Entries } from '../column.ts';
import { issued, wanted } from './custom-domain-details.ts';
import { takeTurn, useOf } from './kysely-authority-ledger.ts';
import { forgetOrder, writeWorkDone } from './kysely-certificate-orders.ts';
import { removeCertificate, storeCertificate } from './kysely-certificates.ts';

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
    return this.database.transaction((db) => this.#change(db, host, decide));
  }

  changeCounted<Change extends OwnChange>(
    name: LedgerName,
    now: Date,
    decide: (name: OwnName | undefined, use: CaUse) => Change,
  ): Promise<Change> {
    return this.database.transaction(async (db) => {
      // Also lets one of several workers be the first to store a name.
      await takeTurn(db);
      const use = await useOf(db, name, now);
      return this.#change(db, name.host, (current) => decide(current, use));
    });
  }

  forget(host: string, now: Date, isOver: (name: OwnName) => boolean): Promise<boolean> {
    return this.database.transaction(async (db) => {
      const row = await this.#locked(db, host);
      const name = row && ownNameFrom(row);
      if (!name || !isOver(name)) return false;
      await forgetOrder(db, ownSubject(name));
      await db.deleteFrom('own_names').where('host', '=', host).execute();
      await removeCertificate(db, host, now);
      return true;
    });
  }

  #locked(db: Queries, host: string): Promise<Row | undefined> {
    return db
      .selectFrom('own_names')
      .selectAll()
      .where('host', '=', host)
      .$call(this.database.engine.locked)
      .executeTakeFirst();
  }

  async #change<Change extends OwnChange>(
    db: Queries,
    host: string,
    decide: (name: OwnName | undefined) => Change,
  ): Promise<Change> {
    const row = await this.#locked(db, host);
    const change = decide(row && ownNameFrom(row));
    await this.#write(db, change.name);
    await writeWorkDone(db, change);
    if (change.certificate) await storeCertificate(db, this.sealer, change.certificate);
    return change;
  }

  async #write(db: Queries, name: OwnName): Promise<void> {
    const row = ownNameRow(name);
    const change = { generation: sql`${row.generation}`, details: sql`${row.details}` };
    await this.database.engine
      .upsert({ insert: db.insertInto('own_names').values(row), key: ['host'], change })
      .execute();
  }
}

type Row = Selectable<Schema['own_names']>;

const details = v.object({
  certificate: v.variant('kind', [wanted, issued]),
  failure: perhaps(v.string()),
} satisfies Entries<Omit<OwnName, 'host' | 'generation'>>);

const ownNameRow = ({ host, generation, ...rest }: OwnName): Row => ({
  ...{ host, generation: BigInt(generation) },
  details: JSON.stringify(rest),
});

/** @throws Error when the row is corrupt */
const ownNameFrom = (row: Row): OwnName =>
  ({
    ...{ host: row.host, generation: Number(row.generation) },
    ...parseStored(details, row.details),
  }) satisfies EveryField<OwnName>;
