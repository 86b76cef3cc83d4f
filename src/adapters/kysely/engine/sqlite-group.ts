import type SqliteDatabase from 'better-sqlite3';
import type { Patience, SqliteWriters } from './sqlite-writers.ts';

/** The connection that writes. */
interface WritingFile {
  readonly writer: (text: string) => SqliteDatabase.Statement;
  isInTransaction(): boolean;
}

interface Group {
  readonly since: number;
  readonly stored: PromiseWithResolvers<undefined>;
  /** Whether others have written before the current member. */
  hasOthers: boolean;
  isWriting: boolean;
  isTurnOver: boolean;
}

/** A group takes no more members after this, so that other work of the process waits no longer for its turn. */
const longestMs = 5;

/**
 * Stores together what is written in one turn of the event loop: in one transaction, with one commit and one wait for
 * the disk. Each member has a savepoint, so one that fails fails alone. Nobody hears an outcome before the commit,
 * because each member may have read what those before it wrote.
 */
export class SqliteGroup {
  readonly #file: WritingFile;
  readonly #writers: SqliteWriters;
  #open: Group | undefined;
  /** SQLite has rolled it back by itself, as on a full disk. A further statement would be committed on its own. */
  #isLost = false;

  constructor(file: WritingFile, writers: SqliteWriters) {
    this.#file = file;
    this.#writers = writers;
  }

  /** Unless this throws, the caller is the only writer until it calls `commit` or `rollBack`. */
  begin(patience: Patience): Promise<void> {
    return this.#writers.enter(() => {
      this.#enter();
    }, patience);
  }

  /** Settles after the commit. @throws why nothing is stored; at once, if `rollBack` has to be called */
  commit(): Promise<unknown> {
    const group = this.#current();
    this.run(() => {
      if (group.hasOthers) this.#file.writer('release member').run();
    });
    return this.#leave(group);
  }

  /** Undoes what the caller wrote. Settles after the commit. @throws why nothing that it has seen is stored */
  async rollBack(): Promise<void> {
    const group = this.#current();
    if (group.hasOthers && this.#isUndone()) {
      await this.#leave(group);
      return;
    }
    this.#end(group, 'rollback');
    this.#writers.leave();
  }

  /** Runs a statement of the caller. */
  run<Result>(statement: () => Result): Result {
    if (this.#isLost) throw rolledBack();
    try {
      return statement();
    } catch (error) {
      this.#isLost = !this.#file.isInTransaction();
      throw error;
    }
  }

  /** Before the file is closed. */
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

  /** Not if the whole transaction is undone. */
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

  /** A turn later, in which other programs find the file unlocked. */
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
  // If it fails with its only member, that one hears of it otherwise.
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
