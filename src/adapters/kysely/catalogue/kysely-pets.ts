import type { Insertable } from 'kysely';
import { petNotFound } from '../../../catalogue/domain/catalogue-error.ts';
import type { CatalogueEvent } from '../../../catalogue/domain/catalogue-event.ts';
import type { Pet, PetDraft, PetId, PetStatus } from '../../../catalogue/domain/pet.ts';
import type { Pets, Page, PageBack } from '../../../catalogue/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import { AggregateStore } from '../aggregate-store.ts';
import type { Schema } from '../schema.ts';
import { pets } from '../tables.ts';
import { listings } from './listings.ts';
import { runWithNext } from '../engine/with-next.ts';

type PetRow = Parameters<typeof ofAccount.read>[0];

const ofAccount = pets.without('accountId');
const petFrom: (row: PetRow) => Pet = ofAccount.read;

export class KyselyPets extends AggregateStore implements Pets {
  readonly #lists = listings(this.database, (db) => db.selectFrom('pets').select(ofAccount.names));

  readonly #find = this.database.prepare<{ accountId: string; id: bigint }, PetRow>((db, the) =>
    db
      .selectFrom('pets')
      .select(ofAccount.names)
      .where('id', '=', the('id'))
      .where('account_id', '=', the('accountId')),
  );

  readonly #insert = this.database.prepareWrite<Insertable<Schema['pets']>>((db, the) =>
    db.insertInto('pets').values(pets.without('id').slots(the)),
  );

  async list(
    accountId: string,
    page: Page,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]> {
    return (await this.#lists.list(accountId, page, status)).map(petFrom);
  }

  async newest(
    accountId: string,
    page: PageBack,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]> {
    return (await this.#lists.newest(accountId, page, status)).map(petFrom);
  }

  async find(accountId: string, id: PetId): Promise<Pet | undefined> {
    const [row] = await this.#find({ accountId, id });
    return row && petFrom(row);
  }

  async findSome(accountId: string, ids: readonly PetId[]): Promise<readonly Pet[]> {
    if (ids.length === 0) return [];
    const rows = await this.db
      .selectFrom('pets')
      .select(ofAccount.names)
      .where('id', 'in', ids)
      .where('account_id', '=', accountId)
      .execute();
    return rows.map(petFrom);
  }

  async add(
    accountId: string,
    draft: PetDraft,
    decide: (id: PetId) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet> {
    const { state } = await this.store(async () => {
      const inserted = await this.#insert(pets.write({ ...draft, accountId }));
      return decide(this.database.engine.insertedId(inserted));
    });
    return state;
  }

  async change(
    accountId: string,
    id: PetId,
    decide: (pet: Pet) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet> {
    const { state } = await this.changing(
      () => this.lock(accountId, id),
      decide,
      ({ state }) => this.save(state),
    );
    return state;
  }

  /** For the other adapters of this folder, inside their transaction. @throws DomainError `pet_not_found` */
  async lock(accountId: string, id: PetId): Promise<Pet> {
    const row = await this.db
      .selectFrom('pets')
      .select(ofAccount.names)
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .$call(this.database.engine.locked)
      .executeTakeFirst();
    if (!row) throw petNotFound(id);
    return petFrom(row);
  }

  async save({ id, ...fields }: Pet): Promise<void> {
    await this.database.run((db) =>
      runWithNext(db, db.updateTable('pets').set(pets.write(fields)).where('id', '=', id)),
    );
  }
}
