/** Who of a fleet is at a job: one process at a time, and whoever dies lets go of it when its lease ends. */
export abstract class JobLeases {
  /**
   * Takes the job, or holds on to it, until `leaseUntil`.
   * @param holder the process; the same one may take it again
   * @returns whether it is the holder's; false while another one's lease lasts
   * @throws Unavailable
   */
  abstract hold(job: string, holder: string, now: Date, leaseUntil: Date): Promise<boolean>;

  /** Lets go of the job; does nothing where it is somebody else's. @throws Unavailable */
  abstract release(job: string, holder: string): Promise<void>;
}
