import type { HighUse } from '../../access/domain/quota.ts';
import type { HighUses } from '../../access/ports.ts';
import { Bell } from '../../kernel/bell.ts';

type UseOfAccount = HighUse & { readonly accountId: string };

/**
 * Collects in memory which accounts have used most of their day, so that no request waits for a write. What a crash loses
 * is noted again with the next request of the account.
 */
export class HighUseReporter implements HighUses {
  /** Rings when there is something to report. */
  readonly news = new Bell();
  readonly #report: (use: UseOfAccount) => Promise<void>;
  /** By account, the last. */
  readonly #waiting = new Map<string, UseOfAccount>();
  readonly #reported = new Map<string, UseOfAccount>();

  /** @param report may be called with the same again, also by other processes */
  constructor(report: (use: UseOfAccount) => Promise<void>) {
    this.#report = report;
  }

  note(accountId: string, use: HighUse): void {
    const last = this.#reported.get(accountId);
    if (last && isSame(last, use)) return;
    if (this.#waiting.size === 0) this.news.ring();
    this.#waiting.set(accountId, { ...use, accountId });
  }

  /**
   * Reports what was noted; after a failure the rest is part of the next call.
   * @returns whether nothing is left. @throws Unavailable
   */
  async flush(): Promise<boolean> {
    for (const [accountId, use] of this.#waiting) {
      await this.#report(use);
      this.#reported.set(accountId, use);
      // It may have risen meanwhile.
      if (this.#waiting.get(accountId) === use) this.#waiting.delete(accountId);
    }
    return this.#waiting.size === 0;
  }
}

const isSame = (one: HighUse, other: HighUse): boolean =>
  one.level === other.level && one.resetsAt.getTime() === other.resetsAt.getTime();
