import { edgeMeasures } from './edge-measures.ts';
import { nameserverMeasures } from './nameserver-measures.ts';
import type { Measure } from './measure.ts';
import { processMeasures } from './process-measures.ts';
import { storedMeasures } from './stored-measures.ts';
import { workMeasures } from './work-measures.ts';

/** Every measure of ours at /metrics. docs/metrics.md is printed from it; what is not in it cannot be shown. */
export const measures = {
  ...processMeasures,
  ...workMeasures,
  ...storedMeasures,
  ...edgeMeasures,
  ...nameserverMeasures,
} as const satisfies Readonly<Record<string, Measure>>;

export type MeasureName = keyof typeof measures;
type OfType<Type extends Measure['type']> = {
  [Name in MeasureName]: (typeof measures)[Name]['type'] extends Type ? Name : never;
}[MeasureName];
export type CounterName = OfType<'counter'>;
export type HistogramName = OfType<'histogram'>;
/** What is read at each scrape. */
export type ShownName = OfType<'counter' | 'gauge'>;

export type LabelsOf<Name extends MeasureName> = Readonly<
  Record<(typeof measures)[Name]['labels'][number], string>
>;

/** Where what happens is counted and timed. */
export interface Tally {
  /** @param by 0 shows the counter before anything happened, so that its first increase is seen */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  time<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void;
}
