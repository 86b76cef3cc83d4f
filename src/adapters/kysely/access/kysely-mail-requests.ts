import type { ExpressionBuilder, Selectable } from 'kysely';
import {
  countedTogether,
  mailReasons,
  mailsCountedSince,
  type AskedBy,
  type MailReason,
  type MailRequest,
  type PastMail,
} from '../../../access/domain/mail-request.ts';
import type { MailRequests } from '../../../access/mail-ports.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import { failureOf } from '../engine/failure.ts';
import { lockedRow } from '../locked-row.ts';
import { fromMillis, oneOf, toMillis, type RowOf, type Schema } from '../schema.ts';
import { Store } from '../store.ts';

type Row = Selectable<Schema['mail_requests']>;

export class KyselyMailRequests extends Store implements MailRequests {
  async add(request: MailRequest): Promise<void> {
    try {
      await this.db.insertInto('mail_requests').values(toRow(request)).execute();
    } catch (error) {
      // It waits already: the event was delivered again.
      if (failureOf(error) !== 'duplicate') throw error;
    }
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
    return rows.map(fromRow);
  }

  async answer(
    id: string,
    now: Date,
    answer: Parameters<MailRequests['answer']>[2],
  ): Promise<void> {
    await this.database.transaction(async (db) => {
      const row = await lockedRow(this.database, 'mail_requests', id);
      if (row?.mailed_at !== null) return;
      const request = fromRow(row);
      const before = await this.mailed(request.email, request.reason, now);
      const isMailed = await answer(request, before);
      const change = isMailed
        ? db
            .updateTable('mail_requests')
            .set({ mailed_at: toMillis(now) })
            .where('id', '=', id)
        : db.deleteFrom('mail_requests').where('id', '=', id);
      await change.execute();
    });
  }

  async mailed(email: string, reason: MailReason, now: Date): Promise<readonly PastMail[]> {
    const rows = await this.db
      .selectFrom('mail_requests')
      .select(['mailed_at', 'source', 'device'])
      .where('email', '=', email)
      .where('reason', 'in', countedTogether(reason))
      .where('mailed_at', '>', toMillis(mailsCountedSince(now)))
      .execute();
    return rows.flatMap(({ mailed_at: at, ...asked }) =>
      at === null ? [] : [{ at: fromMillis(at), ...askedBy(asked) }],
    );
  }
}

const isAfter =
  ({ id, turn }: Pick<MailRequest, 'id' | 'turn'>) =>
  (eb: ExpressionBuilder<Schema, 'mail_requests'>) => {
    const its = BigInt(turn);
    return eb.or([eb('turn', '>', its), eb.and([eb('turn', '=', its), eb('id', '>', id)])]);
  };

/** The ids that a browser brings, with spaces in between. */
const askedBy = ({ source, device }: Pick<Row, 'source' | 'device'>): AskedBy => {
  const [id, ...personIds] = device?.split(' ') ?? [];
  return { source, device: id === undefined ? undefined : { id, personIds } };
};

const toRow = ({ id, reason, email, personId, source, device, askedAt, turn }: MailRequest) =>
  ({
    ...{ id, reason, email, source },
    device: device ? [device.id, ...device.personIds].join(' ') : null,
    person_id: personId ?? null,
    asked_at: toMillis(askedAt),
    turn: BigInt(turn),
  }) satisfies RowOf<MailRequest>;

const fromRow = (row: Row): MailRequest =>
  ({
    id: row.id,
    reason: oneOf(mailReasons, row.reason),
    email: row.email,
    personId: row.person_id ?? undefined,
    ...askedBy(row),
    askedAt: fromMillis(row.asked_at),
    turn: Number(row.turn),
  }) satisfies EveryField<MailRequest>;
