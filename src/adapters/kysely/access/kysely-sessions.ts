import type { Selectable } from 'kysely';
import * as v from 'valibot';
import type { AccessEvent } from '../../../access/domain/access-event.ts';
import {
  sessionNotFound,
  signInLinkInvalid,
  signInRefused,
} from '../../../access/domain/people-error.ts';
import {
  mostSessions,
  signInWays,
  type Session,
  type SessionChoice,
} from '../../../access/domain/session.ts';
import type { Sessions, SessionStart, SignedIn } from '../../../access/people-ports.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import { TellingStore } from '../telling-store.ts';
import { accountFrom } from './kysely-accounts.ts';
import { join, lockPerson, personFrom, prove } from './kysely-people.ts';
import type { Queries } from '../database.ts';
import { fromMillis, oneOf, toMillis, type RowOf, type Schema } from '../schema.ts';
import { parseStored, type Entries } from '../stored-json.ts';

type SessionRow = Omit<Selectable<Schema['sessions']>, 'secret_hash'>;
type AccountRow = Selectable<Schema['accounts']>;

/** A session with its person and account; the account's columns have aliases, because names clash. */
type SignedInRow = SessionRow &
  Pick<
    Selectable<Schema['people']>,
    'account_id' | 'email' | 'password_hash' | 'created_at' | 'joined_at' | 'proven_at'
  > &
  Pick<AccountRow, 'name' | 'plan' | 'per_minute' | 'per_day' | 'warnings'> & {
    readonly account_email: string;
    readonly account_created_at: bigint;
  };

const columns = [
  'sessions.id',
  'sessions.person_id',
  'sessions.way',
  'sessions.browser',
  'sessions.started_at',
  'sessions.ends_at',
  'sessions.others',
  'sessions.resets_password',
] as const;

export class KyselySessions extends TellingStore implements Sessions {
  readonly #findBySecretHash = this.database.prepare<{ secretHash: string }, SignedInRow>(
    (db, the) =>
      db
        .selectFrom('sessions')
        .innerJoin('people', 'people.id', 'sessions.person_id')
        .innerJoin('accounts', 'accounts.id', 'people.account_id')
        .select(columns)
        .select(['people.account_id', 'people.email', 'people.password_hash', 'people.created_at'])
        .select(['people.joined_at', 'people.proven_at'])
        .select(['accounts.name', 'accounts.plan', 'accounts.per_minute', 'accounts.per_day'])
        .select(['accounts.email as account_email', 'accounts.created_at as account_created_at'])
        .select('accounts.warnings')
        .where('sessions.secret_hash', '=', the('secretHash')),
  );

  async start({ session, secretHash, proof, events }: SessionStart): Promise<void> {
    const row = { ...toRow(session), secret_hash: secretHash };
    await this.database.transaction(async (db) => {
      const person = await lockPerson(this.database, session.personId);
      if (proof.way === 'link') await useUp(db, session, proof.linkHash);
      else if (person?.passwordHash !== proof.passwordHash) throw signInRefused();
      if (person && !person.joinedAt) await join(db, person, session.startedAt);
      if (person && !person.provenAt && session.resetsPassword) {
        await prove(db, person, session.startedAt);
      }
      await endOldest(db, session.personId);
      await db.insertInto('sessions').values(row).execute();
      await this.outbox.append(events);
    });
  }

  async findBySecretHash(secretHash: string): Promise<SignedIn | undefined> {
    const [row] = await this.#findBySecretHash({ secretHash });
    return row && signedInFrom(row);
  }

  async list(personId: string): Promise<readonly Session[]> {
    const rows = await this.db
      .selectFrom('sessions')
      .select(columns)
      .where('person_id', '=', personId)
      .orderBy('started_at', 'desc')
      .orderBy('id', 'desc')
      .limit(mostSessions)
      .execute();
    return rows.map(fromRow);
  }

  async end(personId: string, id: string, events: readonly AccessEvent[]): Promise<void> {
    await this.database.transaction(async (db) => {
      const { numDeletedRows } = await db
        .deleteFrom('sessions')
        .where('id', '=', id)
        .where('person_id', '=', personId)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw sessionNotFound();
      await this.outbox.append(events);
    });
  }
}

/** Makes room for another session of a locked person. */
const endOldest = async (db: Queries, personId: string): Promise<void> => {
  const all = await db
    .selectFrom('sessions')
    .select('id')
    .where('person_id', '=', personId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  const surplus = all.slice(mostSessions - 1).map(({ id }) => id);
  if (surplus.length > 0) await db.deleteFrom('sessions').where('id', 'in', surplus).execute();
};

/** A link is deleted with its person, so both exist or neither does. @throws DomainError `sign_in_link_invalid` */
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
  session: fromRow(row),
  person: personFrom({ ...row, id: row.person_id }),
  account: accountFrom({
    ...row,
    id: row.account_id,
    email: row.account_email,
    created_at: row.account_created_at,
  }),
});

const toRow = ({ id, personId, way, browser, startedAt, endsAt, ...more }: Session) =>
  ({
    ...{ id, way, browser },
    person_id: personId,
    started_at: toMillis(startedAt),
    ends_at: toMillis(endsAt),
    others: JSON.stringify(more.others),
    resets_password: more.resetsPassword ? 1n : 0n,
  }) satisfies RowOf<Session>;

const choice = v.object({
  personId: v.string(),
  proof: v.string(),
} satisfies Entries<SessionChoice>);

const fromRow = (row: SessionRow): Session =>
  ({
    id: row.id,
    personId: row.person_id,
    way: oneOf(signInWays, row.way),
    resetsPassword: row.resets_password === 1n,
    browser: row.browser,
    startedAt: fromMillis(row.started_at),
    endsAt: fromMillis(row.ends_at),
    others: parseStored(v.array(choice), row.others),
  }) satisfies EveryField<Session>;
