import type {
  AnsweredRequest,
  HourOfUsage,
  UsageLog,
  UsageOutcome,
  HighUses,
  CounterSnapshot,
  CounterSnapshots,
} from '../../access/ports.ts';
import { minuteMs, hourMs } from '../../kernel/durations.ts';
import { Bell } from '../../kernel/signals.ts';
import type { HighUse } from '../../access/domain/quota.ts';
import type { Clock } from '../../kernel/ports.ts';

type Gathered = Omit<HourOfUsage, 'requests'> & { requests: number };

/** Stores usage every few seconds, so that no request waits for it. */
export class UsageRecorder {
  readonly news = new Bell();
  readonly #usage: UsageLog;
  #hours = new Map<string, Gathered>();
  #used = new Map<string, Date>();
  readonly #noted = new Map<string, number>();

  constructor(usage: UsageLog) {
    this.#usage = usage;
  }

  record({ accountId, keyId, operation, status, at }: AnsweredRequest): void {
    const outcome = outcomeOf(status);
    const hour = Math.floor(at.getTime() / hourMs) * hourMs;
    const key = `${keyId} ${operation} ${outcome} ${String(hour)}`;
    const known = this.#hours.get(key);
    if (this.#hours.size === 0) this.news.ring();
    if (known) known.requests += 1;
    else {
      const row = { accountId, keyId, operation, outcome, hour: new Date(hour), requests: 1 };
      this.#hours.set(key, row);
    }
    if (outcome !== 'refused') this.#used.set(keyId, at);
  }

  /** After a failure, the next call retries. @throws Unavailable */
  async flush(): Promise<void> {
    const hours = this.#hours;
    const used = this.#used;
    const due = new Map([...used].filter(([keyId, at]) => this.#isDue(keyId, at)));
    if (hours.size === 0 && due.size === 0) return;
    this.#hours = new Map<string, Gathered>();
    this.#used = new Map([...used].filter(([keyId]) => !due.has(keyId)));
    try {
      await this.#usage.add([...hours.values()], due);
    } catch (error) {
      this.#putBack(hours, used);
      throw error;
    }
    for (const [keyId, at] of due) this.#noted.set(keyId, at.getTime());
  }

  /** Returns true at most once a minute, even if the clock jumps. */
  #isDue(keyId: string, at: Date): boolean {
    const noted = this.#noted.get(keyId);
    return noted === undefined || Math.abs(at.getTime() - noted) >= minuteMs;
  }

  #putBack(hours: ReadonlyMap<string, Gathered>, used: ReadonlyMap<string, Date>): void {
    for (const [key, row] of hours) {
      const requests = row.requests + (this.#hours.get(key)?.requests ?? 0);
      this.#hours.set(key, { ...row, requests });
    }
    for (const [keyId, at] of used) if (!this.#used.has(keyId)) this.#used.set(keyId, at);
  }
}

const outcomeOf = (status: number): UsageOutcome => {
  if (status === 429) return 'refused';
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  return status >= 300 ? '3xx' : '2xx';
};

type UseOfAccount = HighUse & { readonly accountId: string };

/** Reports accounts near their daily limit, so that no request waits for it. */
export class HighUseReporter implements HighUses {
  readonly news = new Bell();
  readonly #report: (use: UseOfAccount) => Promise<void>;
  readonly #waiting = new Map<string, UseOfAccount>();
  readonly #reported = new Map<string, UseOfAccount>();

  /** @param report must accept repeated reports, also from other processes */
  constructor(report: (use: UseOfAccount) => Promise<void>) {
    this.#report = report;
  }

  note(accountId: string, use: HighUse): void {
    const last = this.#reported.get(accountId);
    if (last && isSame(last, use)) return;
    if (this.#waiting.size === 0) this.news.ring();
    this.#waiting.set(accountId, { ...use, accountId });
  }

  /** After a failure, the next call retries. @returns whether nothing is left @throws Unavailable */
  async flush(): Promise<boolean> {
    for (const [accountId, use] of this.#waiting) {
      await this.#report(use);
      this.#reported.set(accountId, use);
      if (this.#waiting.get(accountId) === use) this.#waiting.delete(accountId);
    }
    return this.#waiting.size === 0;
  }
}

const isSame = (one: HighUse, other: HighUse): boolean =>
  one.level === other.level && one.resetsAt.getTime() === other.resetsAt.getTime();

interface KeepableCounters {
  readonly news: Bell;
  takeChanges(): readonly CounterSnapshot[];
  putBack(snapshots: readonly CounterSnapshot[]): void;
  restore(snapshots: readonly CounterSnapshot[]): void;
}

/** A crash loses the counts since the last `save`. */
export class CounterKeeper {
  readonly #counters: KeepableCounters;
  readonly #snapshots: CounterSnapshots;
  readonly #clock: Clock;

  constructor(counters: KeepableCounters, snapshots: CounterSnapshots, clock: Clock) {
    this.#counters = counters;
    this.#snapshots = snapshots;
    this.#clock = clock;
  }

  get news(): Bell {
    return this.#counters.news;
  }

  /** Call before the first request. @throws Unavailable */
  async restore(): Promise<void> {
    this.#counters.restore(await this.#snapshots.load());
  }

  /** After a failure, the next call retries. @throws Unavailable */
  async save(): Promise<void> {
    const changes = this.#counters.takeChanges();
    try {
      await this.#snapshots.save(changes, this.#clock.now());
    } catch (error) {
      this.#counters.putBack(changes);
      throw error;
    }
  }
}
