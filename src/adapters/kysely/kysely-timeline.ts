import { Timeline, timelineKinds, type TimelineEntry } from '../../sites/domain-ports.ts';
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

  async list(domainId: string, limit: number): Promise<readonly TimelineEntry[]> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom('domain_timeline')
        .selectAll()
        .where('domain_id', '=', domainId)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    );
    return rows.map(({ kind, details, occurred_at }) => ({
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
