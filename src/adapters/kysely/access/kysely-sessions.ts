import type { Selectable } from 'kysely';
import type { AccessEvent } from '../../../access/domain/access-event.ts';
import {
  sessionNotFound,
  signInLinkInvalid,
  personNotFound,
} from '../../../access/domain/access-error.ts';
import { mostSessions, surplusSessions, type Session } from '../../../access/domain/session.ts';
import { admitToLink, admitToSession } from '../../../access/domain/person.ts';
import type {
  Sessions,
  SessionStart,
  SignedIn,
  SignInLinks,
  SignInLink,
} from '../../../access/people-ports.ts';
import { AggregateStore } from '../store.ts';
import type { Decision } from '../../../kernel/decision.ts';
import { type Queries, toMillis, type Schema } from '../database.ts';
import { accountFrom } from './kysely-accounts.ts';
import { endAll, endLinks, lockPerson, personFrom, savePerson } from './kysely-people.ts';
import { sessions, signInLinks } from './tables.ts';

type SessionRow = Omit<Selectable<Schema['sessions']>, 'secret_hash'>;
type AccountRow = Selectable<Schema['accounts']>;

/** The account's columns have aliases, because their names clash with others. */
type SignedInRow = SessionRow &
  Pick<
    Selectable<Schema['people']>,
    'account_id' | 'email' | 'role' | 'password_hash' | 'joined_at' | 'factor_since'
  > &
  Omit<AccountRow, 'id' | 'name' | 'email' | 'created_at'> & {
    readonly person_name: string | null;
    readonly person_created_at: bigint;
    readonly person_proven_at: bigint | null;
    readonly account_name: string;
    readonly account_email: string;
    readonly account_created_at: bigint;
  };

const kept = sessions.without('secretHash');
const sessionFrom: (row: SessionRow) => Session = kept.read;
const columns = kept.names.map((name) => `sessions.${name}` as const);

export class KyselySessions extends AggregateStore implements Sessions {
  readonly #findBySecretHash = this.database.prepare<{ secretHash: string }, SignedInRow>(
    (db, the) =>
      db
        .selectFrom('sessions')
        .innerJoin('people', 'people.id', 'sessions.person_id')
        .innerJoin('accounts', 'accounts.id', 'people.account_id')
        .select(columns)
        .select(['people.account_id', 'people.email', 'people.password_hash', 'people.role'])
        .select(['people.joined_at', 'people.factor_since', 'people.name as person_name'])
        .select(['people.created_at as person_created_at', 'people.proven_at as person_proven_at'])
        .select([
          'accounts.name as account_name',
          'accounts.plan',
          'accounts.per_minute',
          'accounts.per_day',
        ])
        .select(['accounts.email as account_email', 'accounts.created_at as account_created_at'])
        .select(['accounts.projects', 'accounts.domains', 'accounts.storage_gib'])
        .select(['accounts.deleted_at', 'accounts.warnings', 'accounts.factor_demanded_at'])
        .where('sessions.secret_hash', '=', the('secretHash')),
  );

  async start({ session, secretHash, proof, events }: SessionStart): Promise<void> {
    const { personId } = session;
    const lock = async (db: Queries) => {
      const person = await lockPerson(this.database, personId);
      if (proof.way === 'link') await useUp(db, session, proof.linkHash);
      return person;
    };
    await this.changing(
      lock,
      (person) => ({ ...admitToSession(person, proof, session), events }),
      async ({ person, ends }, db, before) => {
        if (person !== before) await savePerson(db, person);
        if (ends === 'links') await endLinks(db, personId);
        if (ends === 'all') await endAll(db, personId);
        await endSurplus(db, session);
        const row = sessions.write({ ...session, secretHash });
        await db.insertInto('sessions').values(row).execute();
      },
    );
  }

  async findBySecretHash(secretHash: string): Promise<SignedIn | undefined> {
    const [row] = await this.#findBySecretHash({ secretHash });
    return row && signedInFrom(row);
  }

  async list(personId: string): Promise<readonly Session[]> {
    const rows = await newestOf(this.db, personId).select(columns).limit(mostSessions).execute();
    return rows.map(sessionFrom);
  }

  async change(
    id: string,
    decide: (session: Session) => Decision<Session, AccessEvent>,
  ): Promise<void> {
    const lock = async (db: Queries) => {
      const found = db.selectFrom('sessions').select(columns).where('id', '=', id);
      const before = await found.executeTakeFirst();
      if (!before || !(await lockPerson(this.database, before.person_id))) throw sessionNotFound();
      const row = await found.executeTakeFirst();
      if (!row) throw sessionNotFound();
      return sessionFrom(row);
    };
    await this.changing(lock, decide, async ({ state }, db) => {
      await endSurplus(db, state);
      await db.updateTable('sessions').set(kept.write(state)).where('id', '=', id).execute();
    });
  }

  async see(id: string, seen: Pick<Session, 'seenAt' | 'network'>): Promise<void> {
    await this.db.updateTable('sessions').set(sessions.write(seen)).where('id', '=', id).execute();
  }

  async end(personId: string, id: string, events: readonly AccessEvent[]): Promise<void> {
    await this.store(async (db) => {
      const { numDeletedRows } = await db
        .deleteFrom('sessions')
        .where('id', '=', id)
        .where('person_id', '=', personId)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw sessionNotFound();
      return { events };
    });
  }
}

const counted = sessions.only('id', 'awaitsFactor');

const endSurplus = async (db: Queries, session: Session): Promise<void> => {
  const all = await newestOf(db, session.personId).select(counted.names).execute();
  const surplus = surplusSessions(session, all.map(counted.read));
  if (surplus.length > 0) await db.deleteFrom('sessions').where('id', 'in', surplus).execute();
};

const newestOf = (db: Queries, personId: string) =>
  db
    .selectFrom('sessions')
    .where('person_id', '=', personId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc');

/** @throws DomainError `sign_in_link_invalid` */
const useUp = async (
  db: Queries,
  { personId, startedAt }: Session,
  linkHash: string,
): Promise<void> => {
  const { numDeletedRows } = await db
    .deleteFrom('sign_in_links')
    .where('secret_hash', '=', linkHash)
    .where('person_id', '=', personId)
    .where('ends_at', '>', toMillis(startedAt))
    .executeTakeFirst();
  if (numDeletedRows !== 1n) throw signInLinkInvalid();
};

const signedInFrom = (row: SignedInRow): SignedIn => ({
  session: sessionFrom(row),
  person: personFrom({
    ...row,
    id: row.person_id,
    name: row.person_name,
    created_at: row.person_created_at,
    proven_at: row.person_proven_at,
  }),
  account: accountFrom({
    ...row,
    id: row.account_id,
    name: row.account_name,
    email: row.account_email,
    created_at: row.account_created_at,
  }),
});

export class KyselySignInLinks extends AggregateStore implements SignInLinks {
  async add(
    link: SignInLink,
    events: readonly AccessEvent[],
    whose: 'anybody' | 'newcomer' = 'anybody',
  ): Promise<void> {
    const lock = async () => {
      const person = await lockPerson(this.database, link.personId);
      if (!person) throw personNotFound(link.personId);
      return person;
    };
    await this.changing(
      lock,
      (person) => {
        admitToLink(person, whose);
        return { events };
      },
      (_decision, db) => db.insertInto('sign_in_links').values(signInLinks.write(link)).execute(),
    );
  }

  async personIdOf(secretHash: string, now: Date): Promise<string | undefined> {
    const link = await this.db
      .selectFrom('sign_in_links')
      .select('person_id')
      .where('secret_hash', '=', secretHash)
      .where('ends_at', '>', toMillis(now))
      .executeTakeFirst();
    return link?.person_id;
  }

  async resetsPassword(secretHash: string): Promise<boolean> {
    const link = await this.db
      .selectFrom('sign_in_links')
      .select('resets_password')
      .where('secret_hash', '=', secretHash)
      .executeTakeFirst();
    return link?.resets_password === 1n;
  }
}
