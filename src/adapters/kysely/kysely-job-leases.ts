import type { JobLeases } from '../../kernel/job-leases.ts';
import { Store } from './store.ts';
import { failureOf } from './engine/failure.ts';
import { toMillis } from './schema.ts';

export class KyselyJobLeases extends Store implements JobLeases {
  async hold(job: string, holder: string, now: Date, leaseUntil: Date): Promise<boolean> {
    const lease = { holder, lease_until: toMillis(leaseUntil) };
    const taken = await this.db
      .updateTable('job_leases')
      .set(lease)
      .where('job', '=', job)
      .where(({ eb, or }) =>
        or([eb('holder', '=', holder), eb('lease_until', '<=', toMillis(now))]),
      )
      .executeTakeFirst();
    if (taken.numUpdatedRows > 0n) return true;
    try {
      await this.db
        .insertInto('job_leases')
        .values({ job, ...lease })
        .execute();
      return true;
    } catch (error) {
      // Another process has the lease, or has just created it.
      if (failureOf(error) !== 'duplicate') throw error;
      return false;
    }
  }

  async release(job: string, holder: string): Promise<void> {
    await this.db
      .updateTable('job_leases')
      .set({ lease_until: 0n })
      .where('job', '=', job)
      .where('holder', '=', holder)
      .execute();
  }
}
