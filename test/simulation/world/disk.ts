import { createRequire } from 'node:module';
import type SqliteDatabase from 'better-sqlite3';
import { Dead, type Actor, type Time } from './time.ts';

const require = createRequire(import.meta.url);

type Connection = SqliteDatabase.Database;
type Statement = SqliteDatabase.Statement;
type Method = (...given: unknown[]) => unknown;
type OfConnection = (this: Connection, ...given: unknown[]) => unknown;

export interface DiskListener {
  /** Called before and after a commit, where a process may die. */
  readonly atCommit: (actor: Actor, when: 'before' | 'after') => void;
  /** Called after a commit with the tables that it wrote; `claims of domains` if it only claimed or released rows. */
  readonly onCommit: (actor: Actor, tables: ReadonlySet<string>) => void;
}

/**
 * The SQLite file as separate processes see it. The uncommitted work of a dead process is lost, and the process can no
 * longer use the file. Nothing waits for the disk, because only processes die, never the machine.
 */
export class Disk {
  readonly #open = new Map<Actor, Set<Connection>>();
  readonly #time: Time;
  readonly #listener: DiskListener;
  readonly #written = new WeakMap<Connection, Set<string>>();

  constructor(time: Time, listener: DiskListener) {
    this.#time = time;
    this.#listener = listener;
  }

  /** Releases the locks of a dead process and discards its uncommitted work. */
  drop(actor: Actor): void {
    for (const connection of this.#open.get(actor) ?? []) connection.close();
    this.#open.delete(actor);
  }

  /** A statement of the acting process, which does nothing once the process is dead. */
  watched(connection: Connection, text: string, statement: Statement): Statement {
    const { actor } = this.#time;
    if (!actor) return statement;
    const all = this.#open.get(actor) ?? new Set();
    this.#open.set(actor, all.add(connection));
    const table = claiming.exec(text)?.[1]?.replace(/^/, 'claims of ') ?? writing.exec(text)?.[1];
    const isCommit = /^commit/i.test(text);
    const isEdge = /^(begin|commit|rollback)/i.test(text);
    for (const name of ['run', 'all', 'get'] as const) {
      const real = statement[name].bind(statement);
      const call: Method = (...given) => {
        this.#mustLive(actor);
        if (!isEdge && table === undefined) return real(...given);
        if (isCommit) this.#listener.atCommit(actor, 'before');
        this.#mustLive(actor);
        const wasIn = connection.inTransaction;
        const answer = real(...given);
        actor.transactions =
          (actor.transactions ?? 0) + Number(connection.inTransaction) - Number(wasIn);
        if (!isCommit && table === undefined) return answer;
        if (table !== undefined) this.#writtenBy(connection).add(table);
        if (!connection.inTransaction) this.#committed(actor, this.#writtenBy(connection));
        return answer;
      };
      Object.defineProperty(statement, name, { value: call });
    }
    return statement;
  }

  #writtenBy(connection: Connection): Set<string> {
    const known = this.#written.get(connection);
    if (known) return known;
    const written = new Set<string>();
    this.#written.set(connection, written);
    return written;
  }

  #committed(actor: Actor, written: Set<string>): void {
    const tables = new Set(written);
    written.clear();
    this.#listener.onCommit(actor, tables);
    this.#listener.atCommit(actor, 'after');
  }

  #mustLive(actor: Actor): void {
    if (!actor.isAlive) throw new Dead(actor.name);
  }
}

let current: Disk | undefined;

/** Connections opened from now on belong to this disk. */
export const useDisk = (disk: Disk): void => {
  current = disk;
};

/** Must run before the first module that opens a database. */
export const replaceSqlite = (): void => {
  const { prototype } = require('better-sqlite3') as {
    readonly prototype: Record<'prepare' | 'pragma', OfConnection>;
  };
  const { prepare, pragma } = prototype;
  prototype.prepare = function (text): Statement {
    const statement = prepare.call(this, text) as Statement;
    return current?.watched(this, String(text), statement) ?? statement;
  };
  prototype.pragma = function (text): unknown {
    return pragma.call(this, String(text).replace('= FULL', '= OFF'));
  };
};

const claiming = /^update "(\w+)" set "claim"/;
const writing =
  /^\s*(?:insert\s+(?:or \w+\s+)?into|update|delete\s+from|replace\s+into)\s+"?(\w+)/i;
