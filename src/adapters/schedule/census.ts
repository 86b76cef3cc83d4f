import { Bell } from '../../kernel/signals.ts';
import type { Job, JobEnd } from './cron-jobs.ts';
import { leasedJob, type LeasedJobPorts } from './leased-job.ts';

const second = 1000;
/** However long a count takes, workers spend at most a hundredth of their time with it, unless that would be too seldom. */
const rest = { timesAsLong: 100, mostMs: 300 * second };
/** Between two reads, at most: for so long it counts for the next one. */
const readsApartMs = 300 * second;
/** For a missed turn and a slow count, before another worker takes over. */
const spareMs = 60 * second;

const job = 'count what is stored';

export interface CensusPorts extends LeasedJobPorts {
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/**
 * Counts at intervals, in one process of a fleet, while somebody reads the counts there. The others have no count, so that
 * none shows an old one.
 */
export class Census<Counts> {
  readonly #ports: CensusPorts;
  readonly #count: Job['run'];
  #latest: { readonly counts: Counts; readonly at: Date } | undefined;
  #restMs = 0;
  #nextAt = -Infinity;
  #leaseUntil: Date | undefined;
  /** Until then it counts. The first count is for whoever reads next. */
  #neededUntil = Infinity;
  /** Rings when somebody reads the counts, which asks for the next ones. */
  readonly news = new Bell();

  constructor(count: (isStopping: () => boolean) => Promise<Counts>, ports: CensusPorts) {
    this.#ports = ports;
    const work = (isStopping: () => boolean) => this.#countOnce(count, isStopping);
    this.#count = leasedJob({ name: job, work, keptMs: () => this.#restMs + spareMs }, ports);
  }

  /** What this process counted lately; undefined while another one counts. Asks for the next counts. */
  read(): { readonly counts: Counts; readonly at: Date } | undefined {
    this.#neededUntil = this.#elapsed() + readsApartMs;
    this.news.ring();
    return this.#latest;
  }

  /**
   * Counts, unless another process does, it was only just done, or nobody has read the counts for minutes.
   * @throws Unavailable
   */
  async run(isStopping: () => boolean = () => false): Promise<JobEnd> {
    if (this.#elapsed() > this.#neededUntil) {
      this.#forgetOld();
      return { nextAt: this.#latest && this.#leaseUntil };
    }
    if (this.#elapsed() < this.#nextAt) return 'done';
    this.#forgetOld();
    const end = await this.#count(isStopping);
    if (end === 'elsewhere') this.#latest = undefined;
    return end;
  }

  async #countOnce(
    count: (isStopping: () => boolean) => Promise<Counts>,
    isStopping: () => boolean,
  ): Promise<JobEnd> {
    const [at, begunAt] = [this.#ports.clock.now(), this.#elapsed()];
    const counts = await count(isStopping);
    if (isStopping()) return 'done';
    this.#latest = { counts, at };
    if (this.#neededUntil === Infinity) this.#neededUntil = -Infinity;
    const endedAt = this.#elapsed();
    this.#restMs = Math.min(rest.timesAsLong * (endedAt - begunAt), rest.mostMs);
    this.#nextAt = endedAt + this.#restMs;
    this.#leaseUntil = new Date(this.#ports.clock.now().getTime() + this.#restMs + spareMs);
    return 'done';
  }

  #elapsed(): number {
    const { elapsed = () => performance.now() } = this.#ports;
    return elapsed();
  }

  /** Another one may count now, also where the answer of the database would not tell. */
  #forgetOld(): void {
    const { clock } = this.#ports;
    if (this.#leaseUntil && clock.now() >= this.#leaseUntil) this.#latest = undefined;
  }

  /** Leaves it to another process. */
  async stop(): Promise<void> {
    this.#latest = undefined;
    await this.#ports.leases.release(job, this.#ports.holder);
  }
}
