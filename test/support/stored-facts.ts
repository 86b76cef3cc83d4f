import { Database } from '../../src/adapters/kysely/database.ts';

export interface StoredPet {
  readonly id: number;
  readonly name: string;
}

/** Looks into a service's database from outside, past everything that could be wrong in the service. */
export class StoredFacts {
  readonly #database: Database;

  constructor(url: string) {
    // The service has deadlines for its queries; whoever looks on has time.
    this.#database = new Database(url, { patient: true });
  }

  async pets(): Promise<readonly StoredPet[]> {
    const rows = await this.#db.selectFrom('pets').select(['id', 'name']).orderBy('id').execute();
    return rows.map(({ id, name }) => ({ id: Number(id), name }));
  }

  /** The details of every entry of one kind in the audit log. */
  async audited(what: string): Promise<readonly Readonly<Record<string, string>>[]> {
    const entries = this.#db.selectFrom('audit_log').select('details').where('what', '=', what);
    const rows = await entries.execute();
    return rows.map(({ details }) => JSON.parse(details) as Record<string, string>);
  }

  async count(table: 'audit_log' | 'deliveries'): Promise<number> {
    return (await this.#db.selectFrom(table).selectAll().execute()).length;
  }

  /** How many tables there are. */
  async tables(): Promise<number> {
    return (await this.#db.introspection.getTables({ withInternalKyselyTables: true })).length;
  }

  /** How many deliveries failed at least once and wait for another attempt. */
  async failing(): Promise<number> {
    const failed = this.#db.selectFrom('deliveries').selectAll().where('attempts', '>', 0n);
    return (await failed.where('problem', 'is not', null).execute()).length;
  }

  /** Lets the time pass that a dead process still holds its deliveries. */
  async endLeases(): Promise<void> {
    const claimed = this.#db.updateTable('deliveries').where('claim', 'is not', null);
    await claimed.set({ due_at: 0n }).execute();
  }

  async setAttempts(attempts: bigint): Promise<void> {
    await this.#db.updateTable('deliveries').set({ attempts }).execute();
  }

  /** Without its table the audit log, which is a subscriber, fails. */
  async hideAuditLog(): Promise<void> {
    await this.#db.schema.alterTable('audit_log').renameTo('hidden_log').execute();
  }

  async showAuditLog(): Promise<void> {
    await this.#db.schema.alterTable('hidden_log').renameTo('audit_log').execute();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  get #db() {
    return this.#database.root;
  }
}
