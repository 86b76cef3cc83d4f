import { OutOfTime } from '../../../kernel/unavailable.ts';
import type { PoolLoad } from './connections.ts';
import { keptLocked, pastOtherPrograms } from './sqlite-lock.ts';

/** As many as may wait for a connection to MySQL. */
const mostWaiting = 1000;

/** How long a caller waits, in milliseconds. */
export interface Patience {
  /** For other programs. */
  readonly lockMs: number;
  /** In all: Infinity in jobs and commands. */
  readonly leftMs: number;
}

interface Writer {
  readonly patience: Patience;
  readonly cameAt: number;
  /** For how long other programs had the lock meanwhile. */
  lockedMs: number;
  readonly turn: PromiseWithResolvers<undefined>;
}

/**
 * The writers of this process, one at a time and first come, first served. Only the first one tries to lock the file.
 * Time spent behind other writers of this process does not count towards `lockMs`.
 */
export class SqliteWriters {
  /** The first writes, or tries to. */
  readonly #writers: Writer[] = [];
  /** Since when the lock has been refused; undefined once a writer got it. */
  #refusedAt: number | undefined;

  /**
   * Runs `attempt`, which takes the lock, once it is the caller's turn and no other program holds the lock. The caller
   * is then the writer and must call `leave`, unless this throws.
   */
  async enter<T>(attempt: () => T, patience: Patience): Promise<T> {
    if (this.#writers.length >= mostWaiting) throw tooMany();
    const turn = Promise.withResolvers<undefined>();
    const me: Writer = { patience, cameAt: performance.now(), lockedMs: 0, turn };
    if (this.#writers.push(me) > 1) await this.#turnOf(me);
    const refused = (error: unknown) => {
      this.#refused(me, error);
    };
    try {
      const result = await pastOtherPrograms(attempt, refused);
      this.#refusedAt = undefined;
      return result;
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  load(): PoolLoad {
    const { length } = this.#writers;
    return { all: 1, busy: Math.min(1, length), waiting: Math.max(0, length - 1) };
  }

  /** The writer is done. */
  leave(): void {
    this.#writers.shift();
    this.#writers[0]?.turn.resolve(undefined);
  }

  async #turnOf(me: Writer): Promise<void> {
    const { leftMs } = me.patience;
    const dismiss = () => {
      this.#dismiss(me, new OutOfTime('The database'));
    };
    const timer = leftMs === Infinity ? undefined : setTimeout(dismiss, leftMs);
    try {
      await me.turn.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Rejects the writers whose time is up. @throws Error if the first one is among them */
  #refused(first: Writer, error: unknown): void {
    const now = performance.now();
    const since = this.#refusedAt ?? now;
    this.#refusedAt = now;
    for (const writer of this.#writers) writer.lockedMs += now - Math.max(since, writer.cameAt);
    const late = this.#writers.filter(({ lockedMs, patience }) => lockedMs >= patience.lockMs);
    for (const writer of late) {
      if (writer !== first) this.#dismiss(writer, keptLocked(writer.patience.lockMs, error));
    }
    if (late.includes(first)) throw keptLocked(first.patience.lockMs, error);
    if (now - first.cameAt >= first.patience.leftMs) throw new OutOfTime('The database');
  }

  #dismiss(writer: Writer, reason: Error): void {
    this.#writers.splice(this.#writers.indexOf(writer), 1);
    writer.turn.reject(reason);
  }
}

const tooMany = (): Error =>
  Object.assign(new Error('too many wait to write'), { code: 'POOL_FULL' });
