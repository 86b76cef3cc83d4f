/** How the values of several processes and machines are combined. */
export type Together = 'sum' | 'min' | 'max';

export interface Sample<Label extends string = string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** The values of one measure: a number, or a sample for each set of labels. Undefined hides the measure. */
export type Found<Label extends string = string> = readonly Sample<Label>[] | number | undefined;

export interface Measure<
  Source = never,
  Type extends 'counter' | 'gauge' | 'histogram' = 'counter' | 'gauge' | 'histogram',
  Label extends string = string,
> {
  readonly type: Type;
  readonly together: Together;
  /** A label may have at most a few dozen values, so hosts, accounts and paths cannot be labels. */
  readonly labels: readonly Label[];
  readonly help: string;
  readonly from: string;
  /** Reads the value from its source at each scrape. Undefined if the process counts the measure itself. */
  readonly read: ((source: Source) => Found<Label>) | undefined;
}

/**
 * Counters and histograms are added up over processes; a gauge's function says how its values are combined.
 * @param from which processes show the rows
 */
export const rowsOf = <Source>(from: string) => {
  const row =
    <Type extends Measure['type']>(type: Type, together: Together) =>
    <const Label extends string>(
      help: string,
      labels: readonly Label[],
      read?: (source: Source) => Found<NoInfer<Label>>,
    ): Measure<Source, Type, Label> => ({ type, together, labels, help, from, read });
  return {
    counter: row('counter', 'sum'),
    histogram: row('histogram', 'sum'),
    sum: row('gauge', 'sum'),
    max: row('gauge', 'max'),
    min: row('gauge', 'min'),
  };
};
