import { setTimeout as delay } from 'node:timers/promises';
import { totalsOf, type MetricSnapshot } from '../../adapters/http/metrics/metrics.ts';
import { measures, type MeasureName } from '../../adapters/http/metrics/measures.ts';
import type { Child } from './child.ts';

/** Its last metrics may come after its exit. */
const lastMessagesMs = 1_000;

/** The metrics of all processes of a parent, with the totals of those that have ended. */
export class GatheredMetrics {
  /** What each one told last; of those that have ended too, until their totals are added. */
  readonly #last = new Map<Child, MetricSnapshot>();
  readonly #added = new WeakSet<Child>();
  #totalsOfEnded: Promise<MetricSnapshot> = Promise.resolve([]);

  /** @param replaced how many were replaced because they died */
  async gather(serving: readonly Child[], replaced: number): Promise<readonly MetricSnapshot[]> {
    const answered = new Set<Child>();
    const ask = async (child: Child) => {
      const snapshot = await child.snapshot();
      if (!snapshot) return;
      answered.add(child);
      this.keep(child, snapshot);
    };
    await Promise.all(serving.map(ask));
    const told = [...this.#last];
    const present = told.filter(([child]) => answered.has(child)).map(([, snapshot]) => snapshot);
    const away = told.filter(([child]) => !answered.has(child)).map(([, snapshot]) => snapshot);
    return [
      ...present,
      await totalsOf([await this.#totalsOfEnded, ...away]),
      aboutProcesses(answered.size, serving.length - answered.size, replaced),
    ];
  }

  keep(child: Child, snapshot: MetricSnapshot): void {
    if (!this.#added.has(child)) this.#last.set(child, snapshot);
  }

  /** What it counted stays counted. */
  async ended(child: Child): Promise<void> {
    await delay(lastMessagesMs, undefined, { ref: false });
    const last = this.#last.get(child);
    this.#last.delete(child);
    this.#added.add(child);
    if (!last) return;
    this.#totalsOfEnded = this.#totalsOfEnded.then((before) =>
      totalsOf([before, last]).catch(() => before),
    );
  }
}

const aboutProcesses = (serving: number, silent: number, replaced: number): MetricSnapshot => [
  known('processes', [
    { value: serving, labels: { state: 'serving' } },
    { value: silent, labels: { state: 'silent' } },
  ]),
  known('processes_replaced_total', [{ value: replaced, labels: {} }]),
];

type Known = MetricSnapshot[number];

const known = (name: MeasureName, values: Known['values']): Known => {
  const { type, help, together: aggregator } = measures[name];
  return { name, type, help, aggregator, values };
};
