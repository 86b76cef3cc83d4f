import { Database } from '../../../src/adapters/kysely/database.ts';

export interface StoredPet {
  readonly id: number;
  readonly name: string;
}

/** Reads a service's database directly, so that faults of the service do not matter. */
export class StoredFacts {
  readonly #database: Database;

  constructor(url: string) {
    // The service has deadlines for its queries; this connection has none.
    this.#database = new Database(url, { patient: true });
  }

  async pets(): Promise<readonly StoredPet[]> {
    const rows = await this.#db.selectFrom('pets').select(['id', 'name']).orderBy('id').execute();
    return rows.map(({ id, name }) => ({ id: Number(id), name }));
  }

  async told(type: string): Promise<readonly Readonly<Record<string, string>>[]> {
    const rows = await this.#db
      .selectFrom('events')
      .select('details')
      .where('type', '=', type)
      .execute();
    return rows.map(({ details }) => JSON.parse(details) as Record<string, string>);
  }

  /** The animals that were sold, one for each order. */
  async ordered(): Promise<readonly number[]> {
    const rows = await this.#db.selectFrom('orders').select('pet_id').orderBy('id').execute();
    return rows.map(({ pet_id }) => Number(pet_id));
  }

  async petsThatAre(status: string): Promise<readonly number[]> {
    const rows = this.#db.selectFrom('pets').select('id').where('status', '=', status);
    return (await rows.execute()).map(({ id }) => Number(id));
  }

  /** Hosts of domains that are not removed. */
  async domains(): Promise<readonly string[]> {
    const rows = this.#db.selectFrom('domains').select('host').where('state', '!=', 'removed');
    return (await rows.execute()).map(({ host }) => host);
  }

  async ownNames(): Promise<readonly object[]> {
    return this.#db.selectFrom('own_names').selectAll().orderBy('host').execute();
  }

  async succeededDeploys(): Promise<readonly string[]> {
    const rows = this.#db.selectFrom('deploys').select('id').where('state', '=', 'succeeded');
    return (await rows.execute()).map(({ id }) => id);
  }

  async failedDeploys(): Promise<readonly string[]> {
    const rows = this.#db.selectFrom('deploys').select('id').where('state', '=', 'failed');
    return (await rows.execute()).map(({ id }) => id);
  }

  async undelivered(): Promise<{ readonly waiting: number; readonly parked: number }> {
    const rows = await this.#db
      .selectFrom('deliveries')
      .select(['parked', (all) => all.fn.countAll<bigint>().as('count')])
      .groupBy('parked')
      .execute();
    const of = (parked: bigint) => Number(rows.find((one) => one.parked === parked)?.count ?? 0);
    return { waiting: of(0n), parked: of(1n) };
  }

  async tables(): Promise<number> {
    return (await this.#db.introspection.getTables({ withInternalKyselyTables: true })).length;
  }

  /** Advances past the leases of a dead process on deliveries, mails and jobs. */
  async endLeases(): Promise<void> {
    for (const table of ['deliveries', 'mails'] as const) {
      const claimed = this.#db.updateTable(table).where('claim', 'is not', null);
      await claimed.where('due_at', 'is not', null).set({ due_at: 0n }).execute();
    }
    await this.#db.deleteFrom('job_leases').execute();
  }

  /** Advances past the waits of failed deliveries. */
  async endWaits(): Promise<void> {
    const waiting = this.#db.updateTable('deliveries').where('claim', 'is', null);
    await waiting.where('parked', '=', 0n).set({ due_at: 0n }).execute();
  }

  async setAttempts(attempts: bigint): Promise<void> {
    await this.#db.updateTable('deliveries').set({ attempts }).execute();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  get #db() {
    return this.#database.root;
  }
}
