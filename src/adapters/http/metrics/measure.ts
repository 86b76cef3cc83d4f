/** How the values of several processes, and of several machines, become one. */
export type Together = 'sum' | 'min' | 'max';

export interface Sample<Label extends string = string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** What is shown of one measure: a number without labels, or one for each set of labels. Undefined leaves it out. */
export type Found<Label extends string = string> = readonly Sample<Label>[] | number | undefined;

export interface Measure<
  Source = never,
  Type extends 'counter' | 'gauge' | 'histogram' = 'counter' | 'gauge' | 'histogram',
  Label extends string = string,
> {
  readonly type: Type;
  readonly together: Together;
  /** None may have more than a few dozen values: no host, no account, no path. */
  readonly labels: readonly Label[];
  readonly help: string;
  readonly from: string;
  /** Finds it in its source at each scrape. Without it, the process counts it when it happens. */
  readonly read: ((source: Source) => Found<Label>) | undefined;
}

/** Counters and histograms add up over processes; gauges do as their name says. @param from which processes show them */
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
