/** Which rows of a table are deleted, and when. An index leads to them, oldest first. */
export interface RetentionRule<Column extends string = string, TimeColumn extends string = string> {
  /** The rows in words. */
  readonly what: string;
  /** The time from which their age counts; rows without it stay. */
  readonly since: TimeColumn;
  readonly keptMs: number;
  /** Only rows with one of these words. */
  readonly only?: { readonly column: Column; readonly words: readonly string[] };
  /** Rows whose id is in that column stay. */
  readonly unlessIn?: { readonly table: string; readonly column: string };
}

/** Deletes what is too old to be of use. */
export abstract class Retention {
  /**
   * Deletes the rows of a table that are older than `before`, as its rule counts their age. It takes them in slices, so
   * that other writes do not wait for long, and leaves the rest to a later call once it is stopping.
   * @returns how many
   */
  abstract sweep(table: string, before: Date, isStopping?: () => boolean): Promise<number>;

  /** The time from which the age of the oldest row counts, even if `sweep` would keep it; undefined without rows that age. */
  abstract oldest(table: string): Promise<Date | undefined>;
}
