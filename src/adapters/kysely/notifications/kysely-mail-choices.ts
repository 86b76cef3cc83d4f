import { isKind } from '../../../notifications/domain/kinds.ts';
import type { NotificationKind } from '../../../notifications/domain/notification.ts';
import type { MailChoices } from '../../../notifications/ports.ts';
import type { Queries } from '../database.ts';
import { Store } from '../store.ts';

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
      // A kind that only a newer version knows stays as it is.
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

  /** Locks the person. */
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
