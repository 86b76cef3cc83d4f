import type { Selectable } from 'kysely';
import type { JobLeases } from '../../kernel/queue.ts';
import { Store } from './store.ts';
import { failureOf } from './engine/failure.ts';
import { toMillis, type Schema } from './schema.ts';
import { jobLeases } from './tables.ts';

type Lease = Selectable<Schema['job_leases']>;

export class KyselyJobLeases extends Store implements JobLeases {
  readonly #take = this.database.prepareWrite<Lease & { now: bigint }>((db, the) =>
    db
      .updateTable('job_leases')
      .set({ holder: the('holder'), lease_until: the('lease_until') })
      .where('job', '=', the('job'))
      .where(({ eb, or }) =>
        or([eb('holder', '=', the('holder')), eb('lease_until', '<=', the('now'))]),
      ),
  );

  readonly #release = this.database.prepareWrite<Pick<Lease, 'job' | 'holder'>>((db, the) =>
    db
      .updateTable('job_leases')
      .set({ lease_until: 0n })
      .where('job', '=', the('job'))
      .where('holder', '=', the('holder')),
  );

  async hold(job: string, holder: string, now: Date, leaseUntil: Date): Promise<boolean> {
    const lease = jobLeases.write({ job, holder, leaseUntil });
    const { numAffectedRows = 0n } = await this.#take({ ...lease, now: toMillis(now) });
    if (numAffectedRows > 0n) return true;
    try {
      await this.db.insertInto('job_leases').values(lease).execute();
      return true;
    } catch (error) {
      // Another process has the lease, or has just created it.
      if (failureOf(error) !== 'duplicate') throw error;
      return false;
    }
  }

  async release(job: string, holder: string): Promise<void> {
    await this.#release({ job, holder });
  }
}
