import type { Insertable, Selectable } from 'kysely';
import { petNotFound } from '../../../catalogue/domain/catalogue-error.ts';
import type { CatalogueEvent } from '../../../catalogue/domain/catalogue-event.ts';
import {
  petStatuses,
  type Pet,
  type PetDraft,
  type PetId,
  type PetStatus,
} from '../../../catalogue/domain/pet.ts';
import type { Pets, Page, PageBack } from '../../../catalogue/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import { TellingStore } from '../telling-store.ts';
import { oneOf, type RowOf, type Schema } from '../schema.ts';
import { listings } from './listings.ts';
import { runWithNext } from '../engine/with-next.ts';

type PetRow = Omit<Selectable<Schema['pets']>, 'account_id'>;

const columns = ['id', 'name', 'category_id', 'status'] as const;

export class KyselyPets extends TellingStore implements Pets {
  readonly #lists = listings(this.database, (db) => db.selectFrom('pets').select(columns));

  readonly #find = this.database.prepare<{ accountId: string; id: bigint }, PetRow>((db, the) =>
    db
      .selectFrom('pets')
      .select(columns)
      .where('id', '=', the('id'))
      .where('account_id', '=', the('accountId')),
  );

  readonly #insert = this.database.prepareWrite<Insertable<Schema['pets']>>((db, the) =>
    db.insertInto('pets').values({
      account_id: the('account_id'),
      name: the('name'),
      category_id: the('category_id'),
      status: the('status'),
    }),
  );

  async list(
    accountId: string,
    page: Page,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]> {
    return (await this.#lists.list(accountId, page, status)).map(fromRow);
  }

  async newest(
    accountId: string,
    page: PageBack,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]> {
    return (await this.#lists.newest(accountId, page, status)).map(fromRow);
  }

  async find(accountId: string, id: PetId): Promise<Pet | undefined> {
    const [row] = await this.#find({ accountId, id });
    return row && fromRow(row);
  }

  async findSome(accountId: string, ids: readonly PetId[]): Promise<readonly Pet[]> {
    if (ids.length === 0) return [];
    const rows = await this.db
      .selectFrom('pets')
      .select(columns)
      .where('id', 'in', ids)
      .where('account_id', '=', accountId)
      .execute();
    return rows.map(fromRow);
  }

  add(
    accountId: string,
    draft: PetDraft,
    decide: (id: PetId) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet> {
    return this.database.transaction(async () => {
      const inserted = await this.#insert({ ...toRow(draft), account_id: accountId });
      const id = this.database.engine.insertedId(inserted);
      const { state, events } = decide(id);
      await this.outbox.append(events);
      return state;
    });
  }

  change(
    accountId: string,
    id: PetId,
    decide: (pet: Pet) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet> {
    return this.database.transaction(async () => {
      const { state, events } = decide(await this.lock(accountId, id));
      await this.save(state);
      await this.outbox.append(events);
      return state;
    });
  }

  /** For the other adapters of this folder, inside their transaction. @throws DomainError `pet_not_found` */
  async lock(accountId: string, id: PetId): Promise<Pet> {
    const row = await this.db
      .selectFrom('pets')
      .select(columns)
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .$call(this.database.engine.locked)
      .executeTakeFirst();
    if (!row) throw petNotFound(id);
    return fromRow(row);
  }

  async save({ id, ...fields }: Pet): Promise<void> {
    await this.database.run((db) =>
      runWithNext(db, db.updateTable('pets').set(toRow(fields)).where('id', '=', id)),
    );
  }
}

const toRow = ({ name, categoryId, status }: Omit<Pet, 'id'>) =>
  ({ name, category_id: categoryId, status }) satisfies RowOf<Omit<Pet, 'id'>>;

const fromRow = ({ id, name, category_id, status }: PetRow): Pet =>
  ({
    id,
    name,
    categoryId: category_id,
    status: oneOf(petStatuses, status),
  }) satisfies EveryField<Pet>;
