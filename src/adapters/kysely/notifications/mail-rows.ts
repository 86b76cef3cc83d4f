import type { Selectable } from 'kysely';
import type { Sealer } from '../../../kernel/sealer.ts';
import { subjectOf } from '../../../notifications/domain/kinds.ts';
import { endOf } from '../../../notifications/domain/mail-attempts.ts';
import type { Mail, Planned } from '../../../notifications/domain/mail.ts';
import type { DueMessage } from '../../../notifications/mail-ports.ts';
import { fromMillis, toMillis, type Schema } from '../schema.ts';
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
