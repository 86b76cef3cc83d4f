import { setTimeout as delay } from 'node:timers/promises';
import type SqliteDatabase from 'better-sqlite3';
import { OutOfTime } from '../../../kernel/ports.ts';
import type { PoolLoad } from './connections.ts';

interface WritingFile {
  readonly writer: (text: string) => SqliteDatabase.Statement;
  isInTransaction(): boolean;
}

interface Group {
  readonly since: number;
  readonly stored: PromiseWithResolvers<undefined>;
  hasOthers: boolean;
  isWriting: boolean;
  isTurnOver: boolean;
}

/** After this time, other work gets a turn. */
const longestMs = 5;

/**
 * Stores the writes of one turn with one commit. Each member has a savepoint. No member gets a result before the
 * commit, because members may have read each other's writes.
 */
export class SqliteGroup {
  readonly #file: WritingFile;
  readonly #writers: SqliteWriters;
  #open: Group | undefined;
  /** Set when SQLite has rolled back: a further statement would be committed on its own. */
  #isLost = false;

  constructor(file: WritingFile, writers: SqliteWriters) {
    this.#file = file;
    this.#writers = writers;
  }

  /** Makes the caller the only writer until `commit` or `rollBack`. */
  begin(waitLimits: WaitLimits): Promise<void> {
    return this.#writers.enter(() => {
      this.#enter();
    }, waitLimits);
  }

  /** @throws the reason why nothing is stored; throws at once if `rollBack` must be called */
  commit(): Promise<unknown> {
    const group = this.#current();
    this.run(() => {
      if (group.hasOthers) this.#file.writer('release member').run();
    });
    return this.#leave(group);
  }

  /** @throws if the data that the caller has read is not stored */
  async rollBack(): Promise<void> {
    const group = this.#current();
    if (group.hasOthers && this.#isUndone()) {
      await this.#leave(group);
      return;
    }
    this.#end(group, 'rollback');
    this.#writers.leave();
  }

  run<Result>(statement: () => Result): Result {
    if (this.#isLost) throw rolledBack();
    try {
      return statement();
    } catch (error) {
      this.#isLost = !this.#file.isInTransaction();
      throw error;
    }
  }

  settle(): void {
    if (this.#open && !this.#open.isWriting) this.#end(this.#open, 'commit');
  }

  #enter(): void {
    if (this.#open) {
      this.#run('savepoint member');
      this.#open.hasOthers = true;
      this.#open.isWriting = true;
      return;
    }
    this.#file.writer('begin immediate').run();
    const group = newGroup();
    this.#open = group;
    this.#isLost = false;
    setImmediate(() => {
      group.isTurnOver = true;
      if (this.#open === group && !group.isWriting) this.#end(group, 'commit');
    });
  }

  #isUndone(): boolean {
    try {
      this.#run('rollback to member');
      this.#run('release member');
      return true;
    } catch {
      return false;
    }
  }

  #leave(group: Group): Promise<undefined> {
    group.isWriting = false;
    if (group.isTurnOver) this.#end(group, 'commit');
    const isFull = performance.now() - group.since >= longestMs;
    if (isFull || group.isTurnOver) this.#leaveAfter(group);
    else this.#writers.leave();
    return group.stored.promise;
  }

  /** Leaves one turn later, so that other programs find the file unlocked. */
  #leaveAfter({ stored }: Group): void {
    const leave = () => {
      setImmediate(() => {
        this.#writers.leave();
      });
    };
    stored.promise.then(leave, leave);
  }

  #end(group: Group, how: 'commit' | 'rollback'): void {
    this.#open = undefined;
    try {
      this.#run(how);
      group.stored.resolve(undefined);
    } catch (error) {
      group.stored.reject(error);
      if (this.#file.isInTransaction()) this.#file.writer('rollback').run();
    }
  }

  #run(statement: string): void {
    this.run(() => this.#file.writer(statement).run());
  }

  #current(): Group {
    if (!this.#open) throw rolledBack();
    return this.#open;
  }
}

const newGroup = (): Group => {
  const stored = Promise.withResolvers<undefined>();
  // Prevents an unhandled rejection: if the only member fails, it gets the error elsewhere.
  stored.promise.catch(() => undefined);
  return {
    stored,
    since: performance.now(),
    hasOthers: false,
    isWriting: true,
    isTurnOver: false,
  };
};

const rolledBack = (): Error =>
  Object.assign(new Error('SQLite rolled the transaction back'), { code: 'SQLITE_ABORT_ROLLBACK' });

const mostWaiting = 1000;

/** Milliseconds. */
export interface WaitLimits {
  readonly lockMs: number;
  /** Infinity in jobs and commands. */
  readonly leftMs: number;
}

interface Writer {
  readonly waitLimits: WaitLimits;
  readonly cameAt: number;
  lockedMs: number;
  readonly turn: PromiseWithResolvers<undefined>;
}

/** Serves writers in order. The first one locks the file. `lockMs` excludes waiting for writers of this process. */
export class SqliteWriters {
  readonly #writers: Writer[] = [];
  #refusedAt: number | undefined;

  /** Call `leave` afterwards, unless this throws. */
  async enter<T>(attempt: () => T, waitLimits: WaitLimits): Promise<T> {
    if (this.#writers.length >= mostWaiting) throw tooMany();
    const turn = Promise.withResolvers<undefined>();
    const me: Writer = { waitLimits, cameAt: performance.now(), lockedMs: 0, turn };
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

  leave(): void {
    this.#writers.shift();
    this.#writers[0]?.turn.resolve(undefined);
  }

  async #turnOf(me: Writer): Promise<void> {
    const { leftMs } = me.waitLimits;
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

  /** Dismisses writers whose time is up. @throws Error if the first writer's time is up */
  #refused(first: Writer, error: unknown): void {
    const now = performance.now();
    const since = this.#refusedAt ?? now;
    this.#refusedAt = now;
    for (const writer of this.#writers) writer.lockedMs += now - Math.max(since, writer.cameAt);
    const late = this.#writers.filter(({ lockedMs, waitLimits }) => lockedMs >= waitLimits.lockMs);
    for (const writer of late) {
      if (writer !== first) this.#dismiss(writer, keptLocked(writer.waitLimits.lockMs, error));
    }
    if (late.includes(first)) throw keptLocked(first.waitLimits.lockMs, error);
    if (now - first.cameAt >= first.waitLimits.leftMs) throw new OutOfTime('The database');
  }

  #dismiss(writer: Writer, reason: Error): void {
    this.#writers.splice(this.#writers.indexOf(writer), 1);
    writer.turn.reject(reason);
  }
}

const tooMany = (): Error =>
  Object.assign(new Error('too many wait to write'), { code: 'POOL_FULL' });

const pauses = { firstMs: 5, longestMs: 50 };

/**
 * Retries while other programs hold a lock, because SQLite's own wait would block the process.
 * @param refused called after each refusal; throws to give up
 */
export const pastOtherPrograms = async <T>(
  attempt: () => T,
  refused: (error: unknown) => void,
): Promise<T> => {
  for (let pauseMs = pauses.firstMs; ; pauseMs = Math.min(2 * pauseMs, pauses.longestMs)) {
    try {
      return attempt();
    } catch (error) {
      if (!isInTheWay(error)) throw error;
      refused(error);
    }
    // Random, because programs with equal pauses would collide again.
    await delay(pauseMs * (0.5 + Math.random() / 2));
  }
};

export const givingUpAfter = (limitMs: number): ((error: unknown) => void) => {
  let since: number | undefined;
  return (error) => {
    const now = performance.now();
    since ??= now;
    if (now - since >= limitMs) throw keptLocked(limitMs, error);
  };
};

const keptLocked = (waitedMs: number, cause: unknown): Error =>
  Object.assign(
    new Error(
      `another program keeps the SQLite file locked, and did not release it within ${String(waitedMs / 1000)} s`,
      { cause },
    ),
    { code: 'SQLITE_BUSY' },
  );

/** True if another program repairs the file or has written since. */
const isInTheWay = (error: unknown): boolean => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
};
