import type { Selectable } from 'kysely';
import { personNotFound } from '../../../access/domain/access-error.ts';
import type { AccessEvent } from '../../../access/domain/access-event.ts';
import type { Person } from '../../../access/domain/person.ts';
import { factorSince, noFactor, type SecondFactor } from '../../../access/domain/second-factor.ts';
import type { SecondFactors } from '../../../access/people-ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import type { Sealer } from '../../../kernel/ports.ts';
import type { Database, Queries, Schema } from '../database.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { openColumns, sealedColumns } from '../sealed-values.ts';
import { AggregateStore } from '../store.ts';
import { present } from '../table.ts';
import { lockPerson, savePerson } from './kysely-people.ts';
import { secondFactors } from './tables.ts';

type Row = Selectable<Schema['second_factors']>;

export class KyselySecondFactors extends AggregateStore implements SecondFactors {
  readonly #sealer: Sealer;

  constructor(database: Database, outbox: KyselyOutbox, sealer: Sealer) {
    super(database, outbox);
    this.#sealer = sealer;
  }

  find(personId: string): Promise<SecondFactor> {
    return this.#read(this.db, personId);
  }

  async change(
    personId: string,
    decide: (factor: SecondFactor, person: Person) => Decision<SecondFactor, AccessEvent>,
  ): Promise<SecondFactor> {
    const lock = async (db: Queries) => {
      const person = await lockPerson(this.database, personId);
      if (!person) throw personNotFound(personId);
      return { person, factor: await this.#read(db, personId) };
    };
    const { state } = await this.changing(
      lock,
      ({ factor, person }) => decide(factor, person),
      async (changed, db, { person }) => {
        await this.#write(db, changed.state);
        await savePerson(db, { ...person, factorSince: factorSince(person, changed) });
      },
    );
    return state;
  }

  async #read(db: Queries, personId: string): Promise<SecondFactor> {
    const row = await db
      .selectFrom('second_factors')
      .selectAll()
      .where('person_id', '=', personId)
      .executeTakeFirst();
    return row ? this.#fromRow(row) : noFactor(personId);
  }

  async #write(db: Queries, factor: SecondFactor): Promise<void> {
    const { personId } = factor;
    await db.deleteFrom('second_factors').where('person_id', '=', personId).execute();
    await db.insertInto('second_factors').values(this.#toRow(factor)).execute();
  }

  #toRow({ app, ...factor }: SecondFactor): Row {
    const row = secondFactors.write({
      ...factor,
      appSince: app?.since,
      lastStep: app?.lastStep,
      secret: undefined,
      sealedBy: undefined,
    });
    if (!app) return row;
    const sealed = { key: factor.personId, secret: app.secret };
    return { ...row, ...sealedColumns(this.#sealer, 'second_factors', sealed) };
  }

  #fromRow(row: Row): SecondFactor {
    const { appSince, lastStep, secret, sealedBy: _, ...factor } = secondFactors.read(row);
    if (secret === undefined) return { ...factor, app: undefined };
    const app = {
      secret: openColumns(this.#sealer, 'second_factors', row),
      since: present('app_since', appSince),
      lastStep: present('last_step', lastStep),
    };
    return { ...factor, app };
  }
}
