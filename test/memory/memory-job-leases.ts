import { JobLeases } from '../../src/kernel/job-leases.ts';

export class MemoryJobLeases extends JobLeases {
  readonly #leases = new Map<string, { readonly holder: string; readonly until: Date }>();

  override hold(job: string, holder: string, now: Date, leaseUntil: Date): Promise<boolean> {
    const lease = this.#leases.get(job);
    const isFree = !lease || lease.holder === holder || lease.until <= now;
    if (isFree) this.#leases.set(job, { holder, until: leaseUntil });
    return Promise.resolve(isFree);
  }

  override release(job: string, holder: string): Promise<void> {
    if (this.#leases.get(job)?.holder === holder) this.#leases.delete(job);
    return Promise.resolve();
  }
}
