/** One role at work. Stopping waits for what is under way. */
export interface RunningRole {
  /**
   * @param isReplaced given when another process has taken its place on the same ports, so that clients may take their
   * time. It aborts when the whole service ends after all: then what is left ends soon, too
   */
  stop(isReplaced?: AbortSignal): Promise<void>;
}

/** One that listens. */
export interface ListeningRole extends RunningRole {
  /** From now on each answer is the last one of its connection: the client's next request finds another process. */
  announceEnd(): void;
}
