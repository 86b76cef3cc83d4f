import {
  Timeline,
  timelineKinds,
  type PlacedEntry,
  type TimelineEntry,
} from '../../sites/domain-ports.ts';
import type { Database } from './database.ts';
import { JointWrites } from './joint-writes.ts';
import { fromMillis, oneOf, toMillis } from './schema.ts';

export class KyselyTimeline extends Timeline {
  readonly #database: Database;
  readonly #writes: JointWrites;

  constructor(database: Database) {
    super();
    this.#database = database;
    this.#writes = new JointWrites(database);
  }

  async record(domainId: string, { kind, occurredAt, details }: TimelineEntry): Promise<void> {
    await this.#writes.transaction((db) =>
      db
        .insertInto('domain_timeline')
        .values({
          domain_id: domainId,
          kind,
          details: JSON.stringify(details),
          occurred_at: toMillis(occurredAt),
        })
        .execute(),
    );
  }

  async list(domainId: string, limit: number, before?: bigint): Promise<readonly PlacedEntry[]> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom('domain_timeline')
        .selectAll()
        .where('domain_id', '=', domainId)
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0n))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    );
    return rows.map(({ id, kind, details, occurred_at }) => ({
      place: id,
      kind: oneOf(timelineKinds, kind),
      occurredAt: fromMillis(occurred_at),
      details: JSON.parse(details) as Readonly<Record<string, unknown>>,
    }));
  }

  async sweep(before: Date): Promise<number> {
    const { numDeletedRows } = await this.#database.run((db) =>
      db
        .deleteFrom('domain_timeline')
        .where('occurred_at', '<', toMillis(before))
        .executeTakeFirst(),
    );
    return Number(numDeletedRows);
  }
}
