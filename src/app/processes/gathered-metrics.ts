import type { MetricSnapshot } from '../../adapters/http/metrics/together.ts';
import { measures, type MeasureName } from '../../adapters/http/metrics/measures.ts';
import type { Child } from './child.ts';

/** The metrics of all processes of a parent, with the totals of those that have ended. */
export class GatheredMetrics {
  readonly #last = new Map<Child, MetricSnapshot>();
  #totalsOfEnded: Promise<MetricSnapshot> = Promise.resolve([]);

  /** @param replaced how many were replaced because they died */
  async gather(serving: readonly Child[], replaced: number): Promise<readonly MetricSnapshot[]> {
    const answers = await Promise.all(serving.map((child) => this.#ask(child)));
    const silent = answers.filter(({ isSilent }) => isSilent).length;
    return [
      ...answers.map(({ snapshot }) => snapshot),
      await this.#totalsOfEnded,
      aboutProcesses(serving.length - silent, silent, replaced),
    ];
  }

  /** Loads what it needs later: by then another release may lie in the folder. */
  async prepare(): Promise<void> {
    await adding();
  }

  keep(child: Child, snapshot: MetricSnapshot): void {
    this.#last.set(child, snapshot);
  }

  /** What it counted until its last answer stays counted. */
  ended(child: Child): void {
    const last = this.#last.get(child);
    this.#last.delete(child);
    if (!last) return;
    this.#totalsOfEnded = this.#totalsOfEnded.then((before) =>
      totals([before, last]).catch(() => before),
    );
  }

  /** Of one that does not answer, what it counted until its last answer. */
  async #ask(
    child: Child,
  ): Promise<{ readonly snapshot: MetricSnapshot; readonly isSilent: boolean }> {
    const snapshot = await child.snapshot();
    if (snapshot) this.keep(child, snapshot);
    const last = this.#last.get(child) ?? [];
    return snapshot
      ? { snapshot, isSilent: false }
      : { snapshot: await totals([last]), isSilent: true };
  }
}

/** Imported late, because the first process need not wait for it. */
const adding = () => import('../../adapters/http/metrics/together.ts');

const totals = async (snapshots: readonly MetricSnapshot[]): Promise<MetricSnapshot> =>
  (await adding()).totalsOf(snapshots);

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
