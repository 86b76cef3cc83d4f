/**
 * The deadline of the current call. A request has one deadline, and every wait inside it is limited to the time left.
 */
export abstract class Deadline {
  /** Milliseconds; 0 once it has passed. Infinity without a deadline: in jobs, commands, and work after the answer. */
  abstract readonly leftMs: number;

  /** Gives all of `work` one deadline, from now until it settles. */
  abstract during<T>(work: () => Promise<T>): Promise<T>;

  /** Runs `work` without a deadline and does not count its time, since it has its own limits. */
  abstract apart<T>(work: () => Promise<T>): Promise<T>;
}

/** For work without a deadline. */
export const noDeadline: Pick<Deadline, 'leftMs'> = { leftMs: Infinity };
