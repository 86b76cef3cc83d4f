import type { Sealer } from '../../../kernel/sealer.ts';
import type { DueMail } from '../../../notifications/domain/mail-turns.ts';
import type { DueMessage } from '../../../notifications/mail-ports.ts';
import type { Queries } from '../database.ts';
import { toMillis } from '../schema.ts';
import { dueMessage } from './mail-rows.ts';

/** How many due mails are looked at in one query. */
const window = 500;

/**
 * The rows of a range of an index, however many mails there are. Grouped by message, SQLite would read the whole table.
 * @param isPersonal only those of personal kinds; otherwise of all
 */
export const dueMails = async (
  db: Queries,
  now: Date,
  isPersonal: boolean,
): Promise<readonly DueMail[]> => {
  const rows = await db
    .selectFrom('mails')
    .select(['message', 'account_id', 'subject'])
    .where('due_at', '<=', toMillis(now))
    .$if(isPersonal, (some) => some.where('subject', 'is', null))
    .orderBy('due_at')
    .$if(!isPersonal, (all) => all.orderBy('message'))
    .limit(window)
    .execute();
  return rows.map(({ message, account_id: accountId, subject }) => ({
    ...{ message, accountId, isPersonal: subject === null },
  }));
};

/** Those of the messages that the claim got, in their order. */
export const claimedMessages = async (
  db: Queries,
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
