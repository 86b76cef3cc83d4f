import type { ExpressionBuilder } from 'kysely';
import {
  countedTogether,
  mailsCountedSince,
  type MailReason,
  type MailRequest,
  type PastMail,
} from '../../../access/domain/mail-request.ts';
import type { MailRequests } from '../../../access/people-ports.ts';
import { toMillis, type Schema } from '../database.ts';
import { Store, unlessStored } from '../store.ts';
import { mailRequests } from './tables.ts';

const requests = mailRequests.without('mailedAt');
const past = mailRequests.only('mailedAt', 'source', 'device');

export class KyselyMailRequests extends Store implements MailRequests {
  async add(request: MailRequest): Promise<void> {
    const row = requests.write(request);
    await unlessStored(this.db.insertInto('mail_requests').values(row).execute());
  }

  async waiting(
    limit: number,
    after?: Pick<MailRequest, 'id' | 'turn'>,
  ): Promise<readonly MailRequest[]> {
    const rows = await this.db
      .selectFrom('mail_requests')
      .selectAll()
      .where('mailed_at', 'is', null)
      .$if(after !== undefined, (some) => (after ? some.where(isAfter(after)) : some))
      .orderBy('turn')
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(requests.read);
  }

  async answer(
    id: string,
    now: Date,
    answer: Parameters<MailRequests['answer']>[2],
  ): Promise<void> {
    await this.database.transaction(async (db) => {
      const row = await this.database.lock('mail_requests', id);
      if (row?.mailed_at !== null) return;
      const request = requests.read(row);
      const before = await this.mailed(request.email, request.reason, now);
      const isMailed = await answer(request, before);
      const change = isMailed
        ? db
            .updateTable('mail_requests')
            .set(mailRequests.write({ mailedAt: now }))
            .where('id', '=', id)
        : db.deleteFrom('mail_requests').where('id', '=', id);
      await change.execute();
    });
  }

  async mailed(email: string, reason: MailReason, now: Date): Promise<readonly PastMail[]> {
    const rows = await this.db
      .selectFrom('mail_requests')
      .select(past.names)
      .where('email', '=', email)
      .where('reason', 'in', countedTogether(reason))
      .where('mailed_at', '>', toMillis(mailsCountedSince(now)))
      .execute();
    return rows
      .map(past.read)
      .flatMap(({ mailedAt: at, ...askedBy }) => (at ? [{ at, ...askedBy }] : []));
  }
}

const isAfter =
  ({ id, turn }: Pick<MailRequest, 'id' | 'turn'>) =>
  (eb: ExpressionBuilder<Schema, 'mail_requests'>) => {
    const its = BigInt(turn);
    return eb.or([eb('turn', '>', its), eb.and([eb('turn', '=', its), eb('id', '>', id)])]);
  };
