import { sql } from 'kysely';
import { Database } from '../../src/adapters/kysely/database.ts';

export interface StoredPet {
  readonly id: number;
  readonly name: string;
}

/** Looks into a service's database from outside, past everything that could be wrong in the service. */
export class StoredFacts {
  readonly #database: Database;

  constructor(url: string) {
    this.#database = new Database(url);
  }

  async pets(): Promise<readonly StoredPet[]> {
    const { rows } = await sql<{ id: bigint; name: string }>`
      select id, name from pets order by id`.execute(this.#database.root);
    return rows.map(({ id, name }) => ({ id: Number(id), name }));
  }

  /** The details of every entry of one kind in the audit log. */
  async audited(what: string): Promise<readonly Readonly<Record<string, string>>[]> {
    const { rows } = await sql<{ details: string }>`
      select details from audit_log where what = ${what}`.execute(this.#database.root);
    return rows.map(({ details }) => JSON.parse(details) as Record<string, string>);
  }

  async count(table: 'audit_log' | 'deliveries' | 'events' | 'pets'): Promise<number> {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from ${sql.table(table)}`.execute(this.#database.root);
    return Number(rows[0]?.count ?? 0);
  }

  /** How many tables there are; of MySQL. */
  async tables(): Promise<number> {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from information_schema.tables
      where table_schema = database()`.execute(this.#database.root);
    return Number(rows[0]?.count ?? 0);
  }

  /** How many deliveries failed at least once and wait for another attempt. */
  async failing(): Promise<number> {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from deliveries where attempts > 0 and problem is not null`.execute(
      this.#database.root,
    );
    return Number(rows[0]?.count ?? 0);
  }

  /** Lets the time pass that a dead process still holds its deliveries. */
  async endLeases(): Promise<void> {
    await this.execute('update deliveries set due_at = 0 where claim is not null');
  }

  async execute(text: string): Promise<void> {
    await sql.raw(text).execute(this.#database.root);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
