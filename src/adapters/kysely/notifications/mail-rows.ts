import type { Selectable } from 'kysely';
import type { Sealer } from '../../../kernel/sealer.ts';
import {
  type DueMail,
  endOf,
  type Mail,
  type Planned,
} from '../../../notifications/domain/mail.ts';
import { subjectOf } from '../../../notifications/domain/kinds.ts';
import { mostMailsCounted, type DueMessage, type MailState } from '../../../notifications/ports.ts';
import type { Queries } from '../database.ts';
import { fromMillis, fromMillisOrNull, toMillis, type Schema } from '../schema.ts';
import { open, seal } from '../sealed-columns.ts';
import { toldFrom } from './notice-facts.ts';

type Row = Selectable<Schema['mails']>;

interface Draft {
  readonly mail: Mail;
  readonly planned: Planned | undefined;
  readonly now: Date;
}

/** A mail that is left out keeps no facts. */
export const mailRow = (sealer: Sealer, { mail, planned, now }: Draft): Row => {
  const { id, accountId, personId, to, kind, about, occurredAt } = mail;
  const sealed = planned && seal(sealer, 'mails', id, JSON.stringify(about));
  const sendAt = toMillis(planned?.sendAt ?? now);
  return {
    ...{ id, account_id: accountId, person_id: personId, address: to, kind },
    subject: subjectOf(mail) ?? null,
    ...{ facts: sealed?.sealed ?? null, sealed_by: sealed?.sealed_by ?? null },
    occurred_at: toMillis(occurredAt),
    message: planned?.message ?? id,
    send_at: sendAt,
    ...{ attempts: 0n, claim: null, problem: null },
    until: planned ? toMillis(endOf(mail, planned.sendAt)) : sendAt,
    ...(planned
      ? { due_at: sendAt, ended_at: null, ending: null }
      : { due_at: null, ended_at: toMillis(now), ending: 'left_out' }),
  };
};

/** @param others the other mails of the same message */
export const dueMessage = (
  sealer: Sealer,
  first: Row,
  others: readonly Row[],
): Omit<DueMessage, 'claim'> => ({
  ...{ id: first.message, accountId: first.account_id, personId: first.person_id },
  ...{ to: first.address, attempts: Number(first.attempts) },
  until: fromMillis(first.until),
  tells: () =>
    [first, ...others].map(({ id, kind, facts, sealed_by, occurred_at }) => {
      const columns = { sealed: facts ?? '', sealed_by: sealed_by ?? '' };
      const about = open(sealer, 'mails', id, columns);
      return { ...toldFrom(kind, about), occurredAt: fromMillis(occurred_at) };
    }),
});

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

export const mailState = async (db: Queries, now: Date): Promise<MailState> => {
  const { waiting, oldest } = await db
    .selectFrom((inner) =>
      inner
        .selectFrom('mails')
        .select('send_at')
        .where('due_at', 'is not', null)
        .where('send_at', '<=', toMillis(now))
        .orderBy('due_at')
        .limit(mostMailsCounted)
        .as('counted'),
    )
    .select(({ fn }) => [
      fn.countAll<bigint>().as('waiting'),
      fn.min<bigint | null>('counted.send_at').as('oldest'),
    ])
    .executeTakeFirstOrThrow();
  const { unreached } = await db
    .selectFrom('mail_troubles')
    .select(({ fn }) => fn.countAll<bigint>().as('unreached'))
    .executeTakeFirstOrThrow();
  const counts = { waiting: Number(waiting), unreached: Number(unreached) };
  return { ...counts, oldest: fromMillisOrNull(oldest) };
};
