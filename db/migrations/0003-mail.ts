import type { Kysely } from 'kysely';
import { columnsFor, createTableOnce, maybe, primary } from '../tables.ts';

type Db = Kysely<unknown>;

/** Version 1.1.0. Version 1.0.0 knows none of this, and still serves meanwhile: it may remove a person who has rows here. */
export const up = async (db: Db): Promise<void> => {
  await mails(db);
  await mailChoices(db);
  await mailTroubles(db);
};

const mails = (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  return createTableOnce(db, 'mails', {
    columns: {
      id: primary(text(120)),
      account_id: id,
      person_id: id,
      address: text(254),
      kind: text(64),
      subject: maybe(text(255)),
      facts: maybe(longText),
      sealed_by: maybe(text(16)),
      occurred_at: integer,
      message: text(120),
      send_at: integer,
      attempts: integer,
      due_at: maybe(integer),
      claim: maybe(id),
      ended_at: maybe(integer),
      ending: maybe(text(16)),
      problem: maybe(text(2000)),
    },
    indexes: {
      mails_due: ['due_at', 'message'],
      mails_by_message: ['message'],
      mails_by_person: ['person_id', 'send_at'],
      mails_by_end: ['ended_at'],
      mails_sealed_by: ['sealed_by'],
    },
  });
};

const mailChoices = (db: Db): Promise<void> => {
  const { id, text } = columnsFor(db);
  return createTableOnce(db, 'mail_choices', {
    columns: { person_id: id, kind_off: text(64) },
    primaryKey: ['person_id', 'kind_off'],
  });
};

const mailTroubles = (db: Db): Promise<void> => {
  const { id, text, integer } = columnsFor(db);
  return createTableOnce(db, 'mail_troubles', {
    columns: { person_id: primary(id), since: integer, reason: text(2000) },
  });
};
