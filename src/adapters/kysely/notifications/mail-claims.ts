import type { Sealer } from '../../../kernel/sealer.ts';
import { inTurns } from '../../../notifications/domain/mail-turns.ts';
import type { DueMessage, MostClaimed } from '../../../notifications/mail-ports.ts';
import type { Database, Queries } from '../database.ts';
import { fromMillisOrNull, toMillis } from '../schema.ts';
import { dueMessage } from './mail-rows.ts';

/** How many due mails are looked at in one query. */
const window = 500;

interface Wanted extends MostClaimed {
  /** Unique for ever. */
  readonly claim: string;
  readonly now: Date;
  readonly leaseUntil: Date;
}

/** See `Mails.claim`. */
export const claimMails = async (
  database: Database,
  sealer: Sealer,
  { claim, now, leaseUntil, limit, lately = [] }: Wanted,
): Promise<readonly DueMessage[]> => {
  const personal = await dueMails(database, now, true);
  const messages = inTurns([...personal, ...(await dueMails(database, now, false))], lately, limit);
  if (messages.length === 0) return [];
  // Checks `due_at` again, so that the loser of a race for a message changes nothing.
  await database.transaction((db) =>
    db
      .updateTable('mails')
      .set({ claim, due_at: toMillis(leaseUntil) })
      .where('message', 'in', messages)
      .where('due_at', '<=', toMillis(now))
      .execute(),
  );
  return claimedBy(database, sealer, { claim, messages });
};

/** See `Mails.nextDueAt`. */
export const nextMailDueAt = async (db: Queries): Promise<Date | undefined> => {
  const first = await db
    .selectFrom('mails')
    .innerJoin('people', 'people.id', 'mails.person_id')
    .select('mails.due_at')
    .where('mails.due_at', '>=', 0n)
    .orderBy('mails.due_at')
    .limit(1)
    .executeTakeFirst();
  return fromMillisOrNull(first?.due_at ?? null);
};

/**
 * The rows of a range of an index, however many mails there are. Grouped by message, SQLite would read the whole table.
 * @param isPersonal only those of personal kinds; otherwise of all
 */
const dueMails = async ({ db }: Database, now: Date, isPersonal: boolean) => {
  const rows = await db
    .selectFrom('mails')
    .innerJoin('people', 'people.id', 'mails.person_id')
    .select(['mails.message', 'mails.account_id', 'mails.subject'])
    .where('mails.due_at', '<=', toMillis(now))
    .$if(isPersonal, (some) => some.where('mails.subject', 'is', null))
    .orderBy('mails.due_at')
    .$if(!isPersonal, (all) => all.orderBy('mails.message'))
    .limit(window)
    .execute();
  return rows.map(({ message, account_id: accountId, subject }) => ({
    ...{ message, accountId, isPersonal: subject === null },
  }));
};

const claimedBy = async (
  { db }: Database,
  sealer: Sealer,
  { claim, messages }: { readonly claim: string; readonly messages: readonly string[] },
): Promise<readonly DueMessage[]> => {
  const rows = await db
    .selectFrom('mails')
    .selectAll()
    .where('message', 'in', messages)
    .where('claim', '=', claim)
    .orderBy('occurred_at')
    .orderBy('id')
    .execute();
  const byMessage = Map.groupBy(rows, ({ message }) => message);
  return messages.flatMap((id) => {
    const [first, ...others] = byMessage.get(id) ?? [];
    return first ? [{ ...dueMessage(sealer, first, others), claim }] : [];
  });
};
