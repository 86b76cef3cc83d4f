import type { Selectable } from 'kysely';
import type { Sealer } from '../../../kernel/ports.ts';
import {
  type DueMail,
  endOf,
  type Mail,
  type Planned,
} from '../../../notifications/domain/mail.ts';
import { subjectOf } from '../../../notifications/domain/kinds.ts';
import type { DueMessage, MailState } from '../../../notifications/ports.ts';
import { type Queries, fromMillis, fromMillisOrNull, toMillis, type Schema } from '../database.ts';
import { countWaiting } from '../queue.ts';
import { openColumns, sealedColumns } from '../sealed-values.ts';
import { contentFrom } from './kysely-notices.ts';
import { mails } from './tables.ts';

type Row = Selectable<Schema['mails']>;

const plain = mails.without('facts', 'sealedBy');

interface Draft {
  readonly mail: Mail;
  readonly planned: Planned | undefined;
  readonly now: Date;
}

/** A mail that is left out stores no facts. */
export const mailRow = (sealer: Sealer, { mail, planned, now }: Draft): Row => {
  const { id, to: address, about, ...rest } = mail;
  const sendAt = planned?.sendAt ?? now;
  const progress = planned
    ? { dueAt: sendAt, endedAt: undefined, ending: undefined }
    : { dueAt: undefined, endedAt: now, ending: 'left_out' as const };
  const row = plain.write({
    ...rest,
    id,
    address,
    subject: subjectOf(mail),
    message: planned?.message ?? id,
    sendAt,
    attempts: 0,
    claim: undefined,
    problem: undefined,
    ...progress,
    until: planned ? endOf(mail, sendAt) : sendAt,
  });
  const secret = { key: id, secret: JSON.stringify(about) };
  const none = { facts: null, sealed_by: null };
  return { ...row, ...(planned ? sealedColumns(sealer, 'mails', secret) : none) };
};

export const dueMessage = (
  sealer: Sealer,
  first: Row,
  others: readonly Row[],
): Omit<DueMessage, 'claim'> => ({
  id: first.message,
  accountId: first.account_id,
  personId: first.person_id,
  to: first.address,
  attempts: Number(first.attempts),
  until: fromMillis(first.until),
  tells: () =>
    [first, ...others].map((row) => {
      const about = openColumns(sealer, 'mails', row);
      return { ...contentFrom(row.kind, about), occurredAt: fromMillis(row.occurred_at) };
    }),
});

const window = 500;

/** Does not group by message, because SQLite would read the whole table. */
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
    message,
    accountId,
    isPersonal: subject === null,
  }));
};

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

export const mailState = async (db: Queries, now: Date): Promise<MailState> => {
  const { count: waiting, least: oldest } = await countWaiting(db, {
    table: 'mails',
    due: 'due_at',
    least: 'send_at',
    only: ['send_at', '<=', toMillis(now)],
  });
  const { unreached } = await db
    .selectFrom('mail_troubles')
    .select(({ fn }) => fn.countAll<bigint>().as('unreached'))
    .executeTakeFirstOrThrow();
  return { waiting, unreached: Number(unreached), oldest: fromMillisOrNull(oldest) };
};
