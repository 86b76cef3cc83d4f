/** Leases on jobs in a fleet: one process at a time; the lease of a dead process expires. */
export abstract class JobLeases {
  /**
   * Takes or renews the lease until `leaseUntil`.
   * @param holder the process; the same one may take it again
   * @returns whether the holder has the lease; false while another process has it
   * @throws Unavailable
   */
  abstract hold(job: string, holder: string, now: Date, leaseUntil: Date): Promise<boolean>;

  /** Releases the lease; does nothing if another process has it. @throws Unavailable */
  abstract release(job: string, holder: string): Promise<void>;
}
