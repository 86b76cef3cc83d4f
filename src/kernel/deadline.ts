/**
 * Until when somebody waits for the current call. A request has one deadline: whatever it waits for asks here how much of
 * it is left, and waits no longer than that.
 */
export abstract class Deadline {
  /**
   * Milliseconds; 0 once it is past. Infinity where nobody waits: in jobs and commands, and in what goes on after the
   * answer.
   */
  abstract readonly leftMs: number;

  /** All that `work` does together has one deadline, from now on and until it settles. */
  abstract during<T>(work: () => Promise<T>): Promise<T>;

  /** What `work` takes does not count, since it has limits of its own; inside there is no deadline. */
  abstract apart<T>(work: () => Promise<T>): Promise<T>;
}

/** Where nobody waits. */
export const noDeadline: Pick<Deadline, 'leftMs'> = { leftMs: Infinity };
