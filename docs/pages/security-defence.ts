/** One danger, what is done about it, and the tests that show it. */
export interface Defence {
  readonly against: string;
  readonly how: string;
  /** Paths below `test`. */
  readonly tests: readonly string[];
}
