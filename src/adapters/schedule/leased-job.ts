import type { Logger } from 'pino';
import type { Clock } from '../../kernel/ports.ts';
import type { JobLeases } from '../../kernel/queue.ts';
import type { Job, JobEnd } from './cron-jobs.ts';
import { Bell } from '../../kernel/signals.ts';

/** A worker that does not renew its lease for this long counts as dead. */
const leaseMs = 30_000;
const prolongedPerLease = 3;

interface LeasedJobPorts {
  readonly leases: JobLeases;
  readonly clock: Clock;
  readonly log: Logger;
  readonly holder: string;
}

interface LeasedWork {
  readonly name: string;
  readonly work: (isStopping: () => boolean) => Promise<JobEnd>;
  /** When work is due. No lease is taken before that time. */
  readonly dueAt?: () => Promise<Date | undefined>;
  readonly keptMs?: () => number;
}

export const leasedJob = (
  { name, work, dueAt, keptMs }: LeasedWork,
  { leases, clock, log, holder }: LeasedJobPorts,
): Job['run'] => {
  const hold = (milliseconds = leaseMs) => {
    const now = clock.now();
    return leases.hold(name, holder, now, new Date(now.getTime() + milliseconds));
  };
  const prolong = () => {
    hold().catch((error: unknown) => {
      log.warn({ job: name, err: error }, 'could not renew the lease of a job');
    });
  };
  return async (isStopping) => {
    const nextAt = await dueAt?.();
    if (dueAt && (!nextAt || nextAt > clock.now())) return { nextAt };
    if (!(await hold())) return 'elsewhere';
    const prolonging = setInterval(prolong, leaseMs / prolongedPerLease).unref();
    try {
      const end = await work(isStopping);
      return dueAt ? { nextAt: await dueAt() } : end;
    } finally {
      clearInterval(prolonging);
      await (keptMs ? hold(keptMs()) : leases.release(name, holder));
    }
  };
};

const second = 1000;
/** Counting takes at most 1 % of the time. */
const rest = { timesAsLong: 100, mostMs: 300 * second };
const readsApartMs = 300 * second;
const spareMs = 60 * second;

const job = 'count what is stored';

export interface CensusPorts extends LeasedJobPorts {
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/** Counts in only one process of a fleet, and only while somebody reads the counts. */
export class Census<Counts> {
  readonly #ports: CensusPorts;
  readonly #count: Job['run'];
  #latest: { readonly counts: Counts; readonly at: Date } | undefined;
  #restMs = 0;
  #nextAt = -Infinity;
  #leaseUntil: Date | undefined;
  /** The first count does not wait for a reader. */
  #neededUntil = Infinity;
  readonly news = new Bell();

  constructor(count: (isStopping: () => boolean) => Promise<Counts>, ports: CensusPorts) {
    this.#ports = ports;
    const work = (isStopping: () => boolean) => this.#countOnce(count, isStopping);
    this.#count = leasedJob({ name: job, work, keptMs: () => this.#restMs + spareMs }, ports);
  }

  /** @returns undefined while another process counts */
  read(): { readonly counts: Counts; readonly at: Date } | undefined {
    this.#neededUntil = this.#elapsed() + readsApartMs;
    this.news.ring();
    return this.#latest;
  }

  /** Does nothing while nobody reads. @throws Unavailable */
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

  #forgetOld(): void {
    const { clock } = this.#ports;
    if (this.#leaseUntil && clock.now() >= this.#leaseUntil) this.#latest = undefined;
  }

  async stop(): Promise<void> {
    this.#latest = undefined;
    await this.#ports.leases.release(job, this.#ports.holder);
  }
}
