import { accountNotFound } from '../../src/access/domain/access-error.ts';
import type { AccessEvent } from '../../src/access/domain/access-event.ts';
import type { Account } from '../../src/access/domain/account.ts';
import { personNotFound, personTaken } from '../../src/access/domain/people-error.ts';
import type { Person } from '../../src/access/domain/person.ts';
import { People } from '../../src/access/people-ports.ts';
import type { Decision } from '../../src/kernel/decision.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import { MemorySessions } from './memory-sessions.ts';
import { MemorySignInLinks } from './memory-sign-in-links.ts';
import { oldestFirst } from './oldest-first.ts';

/** People are kept together with their sessions and links, which are removed with them. */
export class MemoryPeople extends People {
  readonly sessions: MemorySessions;
  readonly signInLinks: MemorySignInLinks;
  readonly #outbox: MemoryOutbox;
  readonly #account: (id: string) => Account | undefined;
  readonly #people = new Map<string, Person>();

  constructor(outbox: MemoryOutbox, account: (id: string) => Account | undefined) {
    super();
    this.#outbox = outbox;
    this.#account = account;
    const person = (id: string) => this.#people.get(id);
    const join = (id: string, now: Date) => {
      this.#join(id, now);
    };
    this.signInLinks = new MemorySignInLinks(outbox, person);
    this.sessions = new MemorySessions(outbox, this.signInLinks, { person, account, join });
  }

  override async add({ state, events }: Decision<Person, AccessEvent>): Promise<void> {
    await Promise.resolve();
    if (this.#of(state.accountId).some(({ email }) => email === state.email)) {
      throw personTaken(state.email);
    }
    if (!this.#account(state.accountId)) throw accountNotFound(state.accountId);
    this.#people.set(state.id, structuredClone(state));
    this.#outbox.append(events);
  }

  override list(accountId: string): Promise<readonly Person[]> {
    return Promise.resolve(structuredClone(this.#of(accountId)));
  }

  override find(id: string): Promise<Person | undefined> {
    return Promise.resolve(structuredClone(this.#people.get(id)));
  }

  override listByEmail(email: string): Promise<readonly Person[]> {
    const people = [...this.#people.values()].filter((person) => person.email === email);
    return Promise.resolve(structuredClone(people.sort(oldestFirst)));
  }

  override async changePassword(
    id: string,
    sessionId: string,
    decide: (person: Person) => Decision<Person, AccessEvent>,
  ): Promise<void> {
    await Promise.resolve();
    const person = this.#people.get(id);
    if (!person) throw personNotFound(id);
    this.sessions.require(id, sessionId);
    const { state, events } = decide(structuredClone(person));
    this.#people.set(id, structuredClone(state));
    this.sessions.keepOnly(id, sessionId);
    this.signInLinks.forgetOf(id);
    this.#outbox.append(events);
  }

  override async remove(
    accountId: string,
    id: string,
    decide: (people: readonly Person[]) => readonly AccessEvent[],
  ): Promise<void> {
    await Promise.resolve();
    const people = this.#of(accountId);
    const events = decide(structuredClone(people));
    if (!people.some((person) => person.id === id)) throw personNotFound(id);
    this.#people.delete(id);
    this.sessions.forgetOf(id);
    this.signInLinks.forgetOf(id);
    this.#outbox.append(events);
  }

  #join(id: string, now: Date): void {
    const person = this.#people.get(id);
    if (!person || person.joinedAt) return;
    this.#people.set(id, { ...person, joinedAt: new Date(now) });
    this.signInLinks.forgetOf(id);
  }

  #of(accountId: string): readonly Person[] {
    const people = [...this.#people.values()].filter((person) => person.accountId === accountId);
    return people.sort(oldestFirst);
  }
}
