import { sql, type Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createUniqueIndexOnce, dropUniqueOnce } from '../columns.ts';

/**
 * One address may belong to several accounts, once to each. People have joined when they first signed in, and a session
 * may go on in other accounts of the same person.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { integer, longText } = columnsFor(db);
  await dropUniqueOnce(db, 'accounts', 'email');
  await dropUniqueOnce(db, 'people', 'email');
  await createUniqueIndexOnce(db, 'people_by_email', 'people', ['email', 'account_id']);
  await addColumnOnce(db, 'people', 'joined_at', integer);
  await addColumnOnce(db, 'sessions', 'others', longText);
  await letMembersStay(db);
};

/** Who has a password, or signed in as far as is known, has joined: nobody else makes links for them any more. */
const letMembersStay = async (db: Kysely<unknown>): Promise<void> => {
  await sql`
    update people set joined_at = created_at
    where joined_at is null and (
      password_hash is not null
      or exists (select 1 from sessions where sessions.person_id = people.id)
      or exists (
        select 1 from audit_log
        where audit_log.account_id = people.account_id
          and audit_log.what = 'person_signed_in'
          and instr(audit_log.details, people.id) > 0
      )
    )
  `.execute(db);
};
