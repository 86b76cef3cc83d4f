import type { Schema } from '../../../src/adapters/kysely/database.ts';
import type { SimulatedProcess, ProcessName } from '../fleet.ts';
import type { Owners } from '../owners.ts';
import type { Time } from '../world/time.ts';
import type { AuthorityName, World } from '../world/world.ts';
import type { Past } from './past.ts';
import { minuteMs } from '../world/durations.ts';
import SqliteDatabase from 'better-sqlite3';

export type Facts = Readonly<Record<string, string | number | boolean | undefined>>;

export class LawBroken extends Error {
  override readonly name = 'LawBroken';
  readonly law: string;

  /** @param at true time, epoch milliseconds */
  constructor(law: string, facts: Facts, at: number) {
    super(`${new Date(at).toISOString()}: "${law}" is broken: ${inWords(facts)}`);
    this.law = law;
  }
}

const inWords = (facts: Facts): string =>
  Object.entries(facts)
    .map(([name, fact]) => `${name}: ${String(fact)}`)
    .join('; ');

export interface Seen {
  readonly time: Pick<Time, 'now' | 'actor'>;
  readonly world: Pick<World, 'dns' | 'authorities' | 'receivers' | 'mail'>;
  readonly owners: Pick<Owners, 'acknowledged' | 'bursts' | 'faults' | 'shops'>;
  readonly fleet: ReadonlyMap<ProcessName, SimulatedProcess>;
  readonly stored: Stored;
  readonly past: Past;
}

export interface AskedOrder {
  readonly authority: AuthorityName;
  readonly names: readonly string[];
}

/** One law. Each check returns a violation or undefined. Laws keep their memory in closures. */
export interface Law {
  readonly name: string;
  /** The law is checked after commits that wrote one of these tables. */
  readonly tables?: readonly (keyof Schema | `claims of ${keyof Schema}`)[];
  readonly afterCommit?: (seen: Seen) => Facts | undefined;
  /** Checked after each step, so it must be cheap. */
  readonly afterStep?: (seen: Seen) => Facts | undefined;
  readonly eachHour?: (seen: Seen) => Facts | undefined;
  readonly onOrder?: (order: AskedOrder, seen: Seen) => Facts | undefined;
  readonly onLog?: (process: ProcessName, line: string) => Facts | undefined;
  /** Checked after the time of good weather. */
  readonly atTheEnd?: (seen: Seen) => Facts | undefined;
}

/** Laws ignore processes whose clocks differ more than this from the true time. */
export const toleratedSkewMs = 5 * minuteMs;

export const inText = (at: number | null): string =>
  at === null ? 'never' : new Date(at).toISOString();

type Value = string | number | null;

/** Reads committed data over a separate connection. */
export class Stored {
  readonly #open: () => SqliteDatabase.Database;
  readonly #time: Pick<Time, 'as'>;
  readonly #statements = new Map<string, SqliteDatabase.Statement>();
  #database: SqliteDatabase.Database | undefined;

  /** @param open called at the first query */
  constructor(open: () => SqliteDatabase.Database, time: Pick<Time, 'as'>) {
    this.#open = open;
    this.#time = time;
  }

  static inFile(file: string, time: Pick<Time, 'as'>): Stored {
    return new Stored(() => new SqliteDatabase(file, { readonly: true }), time);
  }

  rows<Row>(sql: string, ...values: readonly Value[]): readonly Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  first<Row>(sql: string, ...values: readonly Value[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined;
  }

  has(sql: string, ...values: readonly Value[]): boolean {
    return this.first(sql, ...values) !== undefined;
  }

  close(): void {
    this.#database?.close();
  }

  #statement(sql: string): SqliteDatabase.Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    // Prepared as nobody, so that the statement does not count as one of a simulated process.
    const statement = this.#time.as(undefined, () => {
      this.#database ??= this.#open();
      return this.#database.prepare(sql);
    });
    this.#statements.set(sql, statement);
    return statement;
  }
}
