import type { AccessEvent } from '../../src/access/domain/access-event.ts';
import type { Account } from '../../src/access/domain/account.ts';
import {
  sessionNotFound,
  signInLinkInvalid,
  signInRefused,
} from '../../src/access/domain/people-error.ts';
import type { Person } from '../../src/access/domain/person.ts';
import type { Session } from '../../src/access/domain/session.ts';
import {
  Sessions,
  type SessionStart,
  type SignedIn,
  type SignInProof,
} from '../../src/access/people-ports.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import type { MemorySignInLinks } from './memory-sign-in-links.ts';

/** What sessions belong to. */
interface Holders {
  readonly person: (id: string) => Person | undefined;
  readonly account: (id: string) => Account | undefined;
  /** The first time that somebody signs in. */
  readonly join: (id: string, now: Date) => void;
}

interface Kept {
  readonly session: Session;
  readonly secretHash: string;
}

export class MemorySessions extends Sessions {
  readonly #outbox: MemoryOutbox;
  readonly #signInLinks: MemorySignInLinks;
  readonly #holders: Holders;
  readonly #sessions = new Map<string, Kept>();

  constructor(outbox: MemoryOutbox, signInLinks: MemorySignInLinks, holders: Holders) {
    super();
    this.#outbox = outbox;
    this.#signInLinks = signInLinks;
    this.#holders = holders;
  }

  override async start({ session, secretHash, proof, events }: SessionStart): Promise<void> {
    await Promise.resolve();
    this.#requireProof(session, proof);
    this.#holders.join(session.personId, session.startedAt);
    this.#sessions.set(session.id, { session: structuredClone(session), secretHash });
    this.#outbox.append(events);
  }

  override findBySecretHash(secretHash: string): Promise<SignedIn | undefined> {
    const kept = [...this.#sessions.values()].find((one) => one.secretHash === secretHash);
    const person = kept && this.#holders.person(kept.session.personId);
    const account = person && this.#holders.account(person.accountId);
    if (!account) return Promise.resolve(undefined);
    return Promise.resolve(structuredClone({ session: kept.session, person, account }));
  }

  override list(personId: string): Promise<readonly Session[]> {
    const sessions = this.#of(personId).sort(newestFirst);
    return Promise.resolve(structuredClone(sessions));
  }

  override async end(personId: string, id: string, events: readonly AccessEvent[]): Promise<void> {
    await Promise.resolve();
    this.require(personId, id);
    this.#sessions.delete(id);
    this.#outbox.append(events);
  }

  sweep(before: Date): Promise<number> {
    const all = [...this.#sessions.values()].map(({ session }) => session);
    const old = all.filter(({ endsAt }) => endsAt < before);
    this.#forget(old);
    return Promise.resolve(old.length);
  }

  /** For the other adapters of this folder. @throws DomainError `session_not_found` */
  require(personId: string, id: string): void {
    if (this.#sessions.get(id)?.session.personId !== personId) throw sessionNotFound();
  }

  /** For the other adapters of this folder: the person is removed. */
  forgetOf(personId: string): void {
    this.#forget(this.#of(personId));
  }

  /** For the other adapters of this folder: this session has saved a password. */
  keepOnly(personId: string, keptId: string): void {
    this.#forget(this.#of(personId).filter(({ id }) => id !== keptId));
    const kept = this.#sessions.get(keptId);
    if (kept)
      this.#sessions.set(keptId, { ...kept, session: { ...kept.session, resetsPassword: false } });
  }

  #requireProof({ personId, startedAt }: Session, proof: SignInProof): void {
    if (proof.way === 'password') {
      const current = this.#holders.person(personId)?.passwordHash;
      if (current !== proof.passwordHash) throw signInRefused();
    } else if (!this.#signInLinks.use(proof.linkHash, personId, startedAt)) {
      throw signInLinkInvalid();
    }
  }

  #of(personId: string): Session[] {
    const all = [...this.#sessions.values()].map(({ session }) => session);
    return all.filter((session) => session.personId === personId);
  }

  #forget(sessions: readonly Session[]): void {
    for (const { id } of sessions) this.#sessions.delete(id);
  }
}

const newestFirst = (a: Session, b: Session): number =>
  b.startedAt.getTime() - a.startedAt.getTime() || (a.id < b.id ? 1 : -1);
