import { countIn, windowIndex, type Counts, type WindowCount } from '../../access/domain/quota.ts';
import { QuotaCounters, type CounterSnapshot, type Take, type Taken } from '../../access/ports.ts';
import { Bell } from '../../kernel/signals.ts';

/** Accounts and addresses count requests. Keys count refusals, in `minute`. */
interface Counters {
  readonly minute: WindowCount;
  readonly day?: WindowCount;
}

export class MemoryQuotaCounters extends QuotaCounters {
  /** Rings at the first change since `takeChanges`. */
  readonly news = new Bell();
  readonly #subjects = new Map<string, Counters>();
  readonly #changed = new Set<string>();
  readonly #most: number;

  /** @param most maximum number of subjects; the oldest addresses are dropped first */
  constructor(most = 200_000) {
    super();
    this.#most = most;
  }

  get subjects(): Iterable<string> {
    return this.#subjects.keys();
  }

  override take({ subject, limits, striker, now, atLeast }: Take): Promise<Taken> {
    if (atLeast) this.learn(subject, atLeast, now);
    const { minute, day } = this.#counters(subject, now);
    const allowed = minute.count < limits.perMinute && day.count < limits.perDay;
    const added = allowed ? 1 : 0;
    this.#keep(subject, { minute: plus(minute, added), day: plus(day, added) });
    return Promise.resolve({
      allowed,
      counts: { minute: minute.count + added, day: day.count + added },
      strikes: striker === undefined || allowed ? 0 : this.#strike(`key:${striker}`, now),
    });
  }

  override peek(subject: string, now: Date): Promise<Counts> {
    const { minute, day } = this.#counters(subject, now);
    return Promise.resolve({ minute: minute.count, day: day.count });
  }

  learn(subject: string, counts: Counts, now: Date): void {
    const { minute, day } = this.#counters(subject, now);
    this.#put(subject, {
      minute: { ...minute, count: Math.max(minute.count, counts.minute) },
      day: { ...day, count: Math.max(day.count, counts.day) },
    });
  }

  takeChanges(): readonly CounterSnapshot[] {
    const snapshots = [...this.#changed].flatMap((subject) => {
      const counters = this.#subjects.get(subject);
      return counters ? [{ subject, data: JSON.stringify(counters) }] : [];
    });
    this.#changed.clear();
    return snapshots;
  }

  putBack(snapshots: readonly CounterSnapshot[]): void {
    for (const { subject } of snapshots) this.#changed.add(subject);
  }

  restore(snapshots: readonly CounterSnapshot[]): void {
    for (const { subject, data } of snapshots) this.#put(subject, JSON.parse(data) as Counters);
  }

  #counters(subject: string, now: Date): Required<Counters> {
    const kept = this.#subjects.get(subject);
    return {
      minute: countIn(kept?.minute, windowIndex('minute', now)),
      day: countIn(kept?.day, windowIndex('day', now)),
    };
  }

  #strike(subject: string, now: Date): number {
    const kept = this.#subjects.get(subject);
    const minute = plus(countIn(kept?.minute, windowIndex('minute', now)), 1);
    this.#keep(subject, { minute });
    return minute.count;
  }

  #keep(subject: string, counters: Counters): void {
    this.#put(subject, counters);
    if (this.#changed.size === 0) this.news.ring();
    this.#changed.add(subject);
  }

  #put(subject: string, counters: Counters): void {
    if (!this.#subjects.has(subject) && this.#subjects.size >= this.#most) this.#drop();
    this.#subjects.set(subject, counters);
  }

  /** Drops the oldest addresses, but never accounts or keys. */
  #drop(): void {
    for (const subject of this.#subjects.keys()) {
      if (subject.startsWith('account:') || subject.startsWith('key:')) continue;
      this.#subjects.delete(subject);
      this.#changed.delete(subject);
      return;
    }
  }
}

const plus = (window: WindowCount, added: number): WindowCount =>
  added === 0 ? window : { ...window, count: window.count + added };
