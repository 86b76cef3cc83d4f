import { petNotFound } from '../../src/catalogue/domain/catalogue-error.ts';
import type { CatalogueEvent } from '../../src/catalogue/domain/catalogue-event.ts';
import type { Pet, PetDraft, PetId, PetStatus } from '../../src/catalogue/domain/pet.ts';
import { Pets, type Page, type PageBack } from '../../src/catalogue/ports.ts';
import type { Decision } from '../../src/kernel/decision.ts';
import type { MemoryOutbox } from './memory-outbox.ts';

export class MemoryPets extends Pets {
  readonly #outbox: MemoryOutbox;
  readonly #pets = new Map<PetId, { readonly accountId: string; readonly pet: Pet }>();
  #lastId = 0n;

  constructor(outbox: MemoryOutbox) {
    super();
    this.#outbox = outbox;
  }

  override list(
    accountId: string,
    { after, limit }: Page,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]> {
    const found = this.#of(accountId, status).filter((pet) => pet.id > after);
    return Promise.resolve(structuredClone(found.slice(0, limit)));
  }

  override newest(
    accountId: string,
    { before, limit }: PageBack,
    status: PetStatus | undefined,
  ): Promise<readonly Pet[]> {
    const found = this.#of(accountId, status)
      .filter((pet) => before === undefined || pet.id < before)
      .reverse();
    return Promise.resolve(structuredClone(found.slice(0, limit)));
  }

  override find(accountId: string, id: PetId): Promise<Pet | undefined> {
    const kept = this.#pets.get(id);
    return Promise.resolve(kept?.accountId === accountId ? structuredClone(kept.pet) : undefined);
  }

  override findSome(accountId: string, ids: readonly PetId[]): Promise<readonly Pet[]> {
    const wanted = new Set(ids);
    const found = this.#of(accountId, undefined).filter(({ id }) => wanted.has(id));
    return Promise.resolve(structuredClone(found));
  }

  override async add(
    accountId: string,
    _draft: PetDraft,
    decide: (id: PetId) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet> {
    await Promise.resolve();
    const { state, events } = decide(this.#lastId + 1n);
    this.#lastId = state.id;
    return this.save(accountId, state, events);
  }

  override async change(
    accountId: string,
    id: PetId,
    decide: (pet: Pet) => Decision<Pet, CatalogueEvent>,
  ): Promise<Pet> {
    await Promise.resolve();
    const { state, events } = decide(this.get(accountId, id));
    return this.save(accountId, state, events);
  }

  /** For the other adapters of this folder. @throws DomainError `pet_not_found` */
  get(accountId: string, id: PetId): Pet {
    const kept = this.#pets.get(id);
    if (kept?.accountId !== accountId) throw petNotFound(id);
    return structuredClone(kept.pet);
  }

  save(accountId: string, pet: Pet, events: readonly CatalogueEvent[]): Pet {
    this.#pets.set(pet.id, { accountId, pet: structuredClone(pet) });
    this.#outbox.append(events);
    return pet;
  }

  /** In ascending order of id. */
  #of(accountId: string, status: PetStatus | undefined): Pet[] {
    return [...this.#pets.values()]
      .filter((kept) => kept.accountId === accountId)
      .map(({ pet }) => pet)
      .filter((pet) => status === undefined || pet.status === status);
  }
}
