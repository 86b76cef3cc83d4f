import { mostMailsCounted, type MailState } from '../../../notifications/mail-ports.ts';
import type { Queries } from '../database.ts';
import { fromMillisOrNull, toMillis } from '../schema.ts';

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
