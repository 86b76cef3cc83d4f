import { mostPeople } from '../../../access/domain/person.ts';
import {
  type Mail,
  type MailPlan,
  type PlannedMail,
  plannedSince,
  inTurns,
} from '../../../notifications/domain/mail.ts';
import type {
  DueMessage,
  GivenUp,
  Mails,
  MailState,
  MailTrouble,
  MailChoices,
} from '../../../notifications/ports.ts';
import type { Ids, Sealer } from '../../../kernel/ports.ts';
import type { Claimed, Most } from '../../../kernel/queue.ts';
import { type Database, type Queries, toMillis } from '../database.ts';
import { SealingStore, Store } from '../store.ts';
import { QueueRows } from '../queue.ts';
import { claimedMessages, dueMails, mailRow, mailState } from './mail-rows.ts';
import { mails, mailTroubles } from './tables.ts';
import { isKind } from '../../../notifications/domain/kinds.ts';
import type { NotificationKind } from '../../../notifications/domain/notification.ts';

const longestReason = 2000;
/** Stored if the last message failed on our side. */
const ours = '';

type Ending = NonNullable<ReturnType<typeof mails.read>['ending']>;

const planned = mails.only('kind', 'subject', 'message', 'sendAt', 'claim', 'attempts', 'ending');
const nothing = { dueAt: undefined, claim: undefined, facts: undefined, sealedBy: undefined };

interface MailsPorts {
  readonly sealer: Sealer;
  readonly ids: Ids;
  readonly onAdded: (accountId: string) => void;
}

export class KyselyMails extends SealingStore implements Mails {
  readonly #queue: QueueRows;
  readonly #onAdded: MailsPorts['onAdded'];

  constructor(database: Database, { sealer, ids, onAdded }: MailsPorts) {
    super(database, sealer);
    this.#queue = new QueueRows(database, ids, {
      table: 'mails',
      key: 'message',
      due: 'due_at',
      order: ['due_at'],
    });
    this.#onAdded = onAdded;
  }

  /** Locks the rows of the last day, so that no message is claimed while a mail joins it. */
  async add(
    mail: Mail,
    now: Date,
    plan: (before: readonly PlannedMail[]) => MailPlan,
  ): Promise<void> {
    await this.database.transaction(async (db) => {
      const person = await this.database.lock('people', mail.personId);
      if (person?.account_id !== mail.accountId) return;
      const known = db.selectFrom('mails').select('id').where('id', '=', mail.id);
      if (await known.executeTakeFirst()) return;
      const its = plan(await this.#plannedFor(db, mail.personId, now));
      if (its && 'cancels' in its) {
        await this.#end({ id: its.cancels, claim: null }, { now, ending: 'left_out' });
      }
      const sent = its && 'message' in its ? its : undefined;
      const row = mailRow(this.sealer, { mail, planned: sent, now });
      await db.insertInto('mails').values(row).execute();
      if (!sent) return;
      this.database.afterCommit(() => {
        this.#onAdded(mail.accountId);
      });
    });
  }

  async claim(
    now: Date,
    leaseUntil: Date,
    { limit, lately = [] }: Most,
  ): Promise<readonly DueMessage[]> {
    const personal = await dueMails(this.db, now, true);
    const due = [...personal, ...(await dueMails(this.db, now, false))];
    const messages = inTurns(due, lately, limit);
    if (messages.length === 0) return [];
    const claim = await this.#queue.lease(messages, now, leaseUntil);
    return claimedMessages(this.db, this.sealer, { claim, messages });
  }

  nextDueAt(): Promise<Date | undefined> {
    return this.#queue.nextDueAt();
  }

  async sent(message: Claimed, now: Date): Promise<void> {
    await this.database.transaction(async (db) => {
      const personId = await this.#end(message, { now, ending: 'sent' });
      if (personId === undefined) return;
      await db.deleteFrom('mail_troubles').where('person_id', '=', personId).execute();
    });
  }

  retry(message: Claimed, nextAttemptAt: Date, reason: string): Promise<void> {
    return this.#queue.giveBack(message, { due_at: toMillis(nextAttemptAt) }, reason);
  }

  async giveUp(message: Claimed, now: Date, { kind, reason }: GivenUp): Promise<void> {
    await this.database.transaction(async (db) => {
      const ending = kind === 'refused' ? 'refused' : 'given_up';
      const personId = await this.#end(message, { now, ending, reason });
      if (personId === undefined) return;
      const refusal = kind === 'refused' ? shortened(reason) : ours;
      const known = await db
        .updateTable('mail_troubles')
        .set({ reason: refusal })
        .where('person_id', '=', personId)
        .executeTakeFirst();
      if (known.numUpdatedRows > 0n) return;
      const row = mailTroubles.write({ personId, since: now, reason: refusal });
      await db.insertInto('mail_troubles').values(row).execute();
    });
  }

  async leaveOut(message: Claimed, now: Date): Promise<void> {
    await this.database.transaction(() => this.#end(message, { now, ending: 'left_out' }));
  }

  state(now: Date): Promise<MailState> {
    return mailState(this.db, now);
  }

  async troubles(accountId: string): Promise<readonly MailTrouble[]> {
    const rows = await this.db
      .selectFrom('mail_troubles')
      .innerJoin('people', 'people.id', 'mail_troubles.person_id')
      .selectAll('mail_troubles')
      .where('people.account_id', '=', accountId)
      .orderBy('person_id')
      .limit(mostPeople)
      .execute();
    return rows.map(mailTroubles.read).map(({ reason, ...trouble }) => ({
      ...trouble,
      refusal: reason === ours ? undefined : reason,
    }));
  }

  async #plannedFor(db: Queries, personId: string, now: Date): Promise<readonly PlannedMail[]> {
    const rows = await db
      .selectFrom('mails')
      .select(planned.names)
      .where('person_id', '=', personId)
      .where('send_at', '>', toMillis(plannedSince(now)))
      .$call(this.database.engine.locked)
      .execute();
    return rows
      .map(planned.read)
      .filter(({ ending }) => ending === undefined || ending === 'sent')
      .map(({ claim, attempts, ending, ...mail }) => ({
        ...mail,
        isOpen: ending === undefined && claim === undefined && attempts === 0,
      }));
  }

  /** @returns the recipient; undefined if another process has claimed or ended the mail */
  async #end(
    { id, claim }: { readonly id: string; readonly claim: string | null },
    { now, ending, reason }: { now: Date; ending: Ending; reason?: string },
  ): Promise<string | undefined> {
    const { db, database } = this;
    const mail = await db
      .selectFrom('mails')
      .select('person_id')
      .where('message', '=', id)
      .where('claim', claim === null ? 'is' : '=', claim)
      .where('ended_at', 'is', null)
      .executeTakeFirst();
    const person = mail && (await database.lock('people', mail.person_id));
    if (!person) return undefined;
    const ended = await db
      .updateTable('mails')
      .set(mails.write({ ...nothing, endedAt: now, ending, problem: reason && shortened(reason) }))
      .where('message', '=', id)
      .where('claim', claim === null ? 'is' : '=', claim)
      .where('ended_at', 'is', null)
      .executeTakeFirst();
    return ended.numUpdatedRows > 0n ? person.id : undefined;
  }
}

const shortened = (reason: string): string => reason.slice(0, longestReason);

export const forgetMailsOf = async (db: Queries, personId: string): Promise<void> => {
  await db.deleteFrom('mails').where('person_id', '=', personId).execute();
  await db.deleteFrom('mail_choices').where('person_id', '=', personId).execute();
  await db.deleteFrom('mail_troubles').where('person_id', '=', personId).execute();
};

type Kinds = ReadonlySet<NotificationKind>;

export class KyselyMailChoices extends Store implements MailChoices {
  async off(personIds: readonly string[]): Promise<ReadonlyMap<string, Kinds>> {
    if (personIds.length === 0) return new Map();
    const rows = await this.db
      .selectFrom('mail_choices')
      .selectAll()
      .where('person_id', 'in', personIds)
      .execute();
    const byPerson = Map.groupBy(rows, (row) => row.person_id);
    const kindsOf = (of: typeof rows) => new Set(of.map((row) => row.kind_off).filter(isKind));
    return new Map([...byPerson].map(([personId, of]) => [personId, kindsOf(of)]));
  }

  async choose(personId: string, off: Kinds): Promise<void> {
    await this.#change(personId, async (db, before) => {
      // Kinds of newer versions are kept.
      const on = [...before].filter((kind) => isKind(kind) && !off.has(kind));
      await switchOn(db, personId, on);
      await insert(
        db,
        personId,
        [...off].filter((kind) => !before.has(kind)),
      );
    });
  }

  async switchOff(personId: string, kinds: readonly NotificationKind[]): Promise<void> {
    await this.#change(personId, (db, before) =>
      insert(
        db,
        personId,
        kinds.filter((kind) => !before.has(kind)),
      ),
    );
  }

  async #change(
    personId: string,
    work: (db: Queries, before: ReadonlySet<string>) => Promise<void>,
  ): Promise<void> {
    await this.database.transaction(async (db) => {
      if (!(await this.database.lock('people', personId))) return;
      const rows = await db
        .selectFrom('mail_choices')
        .select('kind_off')
        .where('person_id', '=', personId)
        .execute();
      await work(db, new Set(rows.map((row) => row.kind_off)));
    });
  }
}

const switchOn = async (db: Queries, personId: string, kinds: readonly string[]) => {
  if (kinds.length === 0) return;
  await db
    .deleteFrom('mail_choices')
    .where('person_id', '=', personId)
    .where('kind_off', 'in', kinds)
    .execute();
};

const insert = async (db: Queries, personId: string, kinds: readonly string[]) => {
  if (kinds.length === 0) return;
  const rows = kinds.map((kind) => ({ person_id: personId, kind_off: kind }));
  await db.insertInto('mail_choices').values(rows).execute();
};
