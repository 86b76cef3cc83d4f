import type { AccessEvent } from '../../src/access/domain/access-event.ts';
import { personJoined, personNotFound } from '../../src/access/domain/people-error.ts';
import type { Person } from '../../src/access/domain/person.ts';
import { SignInLinks, type SignInLink } from '../../src/access/people-ports.ts';
import type { MemoryOutbox } from './memory-outbox.ts';

export class MemorySignInLinks extends SignInLinks {
  readonly #outbox: MemoryOutbox;
  readonly #person: (id: string) => Person | undefined;
  readonly #links = new Map<string, SignInLink>();

  constructor(outbox: MemoryOutbox, person: (id: string) => Person | undefined) {
    super();
    this.#outbox = outbox;
    this.#person = person;
  }

  override async add(
    link: SignInLink,
    events: readonly AccessEvent[],
    whose: 'anybody' | 'newcomer' = 'anybody',
  ): Promise<void> {
    await Promise.resolve();
    const person = this.#person(link.personId);
    if (!person) throw personNotFound(link.personId);
    if (whose === 'newcomer' && person.joinedAt) throw personJoined(person.email);
    this.#links.set(link.secretHash, structuredClone(link));
    this.#outbox.append(events);
  }

  override personIdOf(secretHash: string, now: Date): Promise<string | undefined> {
    return Promise.resolve(this.#open(secretHash, now)?.personId);
  }

  override resetsPassword(secretHash: string): Promise<boolean> {
    return Promise.resolve(this.#links.get(secretHash)?.resetsPassword ?? false);
  }

  sweep(before: Date): Promise<number> {
    return Promise.resolve(this.#forget(({ endsAt }) => endsAt < before));
  }

  /** For the other adapters of this folder. @returns whether it existed and belongs to that person */
  use(secretHash: string, personId: string, now: Date): boolean {
    return this.#open(secretHash, now)?.personId === personId && this.#links.delete(secretHash);
  }

  /** For the other adapters of this folder: the person is removed, or all their links end. */
  forgetOf(personId: string): void {
    this.#forget((link) => link.personId === personId);
  }

  #open(secretHash: string, now: Date): SignInLink | undefined {
    const link = this.#links.get(secretHash);
    return link && link.endsAt > now ? link : undefined;
  }

  #forget(isGone: (link: SignInLink) => boolean): number {
    const gone = [...this.#links.values()].filter(isGone);
    for (const { secretHash } of gone) this.#links.delete(secretHash);
    return gone.length;
  }
}
