import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { ResultSetHeader } from 'mysql2';
import { failureOf, type Failure } from './failure.ts';
import { begin, commit, rollback, type Statement } from './mysql-connection.ts';
import { tableOf, type Held, type MysqlPool } from './mysql-pool.ts';
import { goesWithNext } from './with-next.ts';

/** Takes a connection from the pool only with the first statement, which shows what table it needs. */
export class LazyConnection implements DatabaseConnection {
  readonly #pool: MysqlPool;
  #held: Held | undefined;
  #isInTransaction = false;
  /** Why no further statement may run: after a rollback, also one by the server, it would be committed on its own. */
  #over: (() => Error) | undefined;
  /** Statements whose answer is not needed. Sent with the next statement. */
  #ahead: Statement[] = [];

  constructor(pool: MysqlPool) {
    this.#pool = pool;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    this.#refuseIfOver();
    if (this.#isInTransaction && goesWithNext(query)) {
      this.#ahead.push(query);
      return { rows: [] };
    }
    const { place, connection } = await this.#hold(query);
    const statements = [...this.#takeAhead(), query];
    for (const one of statements) place.add(tableOf(one));
    try {
      return resultFrom<Row>(await connection.send(statements));
    } catch (error) {
      this.#noteUndone(error);
      throw error;
    }
  }

  begin(): void {
    this.#isInTransaction = true;
    this.#over = undefined;
    this.#ahead = [begin];
  }

  /** A transaction without statements never took a connection. */
  async commit(): Promise<void> {
    this.#refuseIfOver();
    const ahead = this.#takeAhead();
    if (ahead.length === 1 && ahead[0] === begin) return;
    const { connection } = await this.#hold(commit);
    this.#over = ended;
    await connection.send([...ahead, commit]);
  }

  /**
   * Never rejects, which would hide the original error. If ROLLBACK fails, the connection is closed, which rolls back
   * too.
   */
  async rollback(): Promise<void> {
    this.#over = ended;
    this.#ahead = [];
    await this.#held?.connection.send([rollback]).catch(() => undefined);
  }

  release(): void {
    this.#over = ended;
    if (this.#held) this.#pool.giveBack(this.#held);
    this.#held = undefined;
  }

  streamQuery(): never {
    throw new Error('nothing is streamed from MySQL');
  }

  async #hold(first: Statement): Promise<Held> {
    if (this.#held) return this.#held;
    const held = await this.#pool.take(first);
    if (this.#over) this.#pool.giveBack(held);
    this.#refuseIfOver();
    this.#held = held;
    return held;
  }

  #noteUndone(error: unknown): void {
    const mayBeUndone = this.#isInTransaction && undoing.includes(failureOf(error));
    if (mayBeUndone && error instanceof Error) this.#over ??= () => error;
  }

  #refuseIfOver(): void {
    if (this.#over) throw this.#over();
  }

  #takeAhead(): Statement[] {
    const ahead = this.#ahead;
    this.#ahead = [];
    return ahead;
  }
}

/** With these the server may have rolled the transaction back. */
const undoing: readonly Failure[] = ['conflict', 'lock_timeout'];

const ended = (): Error => new Error('the transaction is over');

const resultFrom = <Row>(answer: unknown): QueryResult<Row> => {
  if (Array.isArray(answer)) return { rows: answer as Row[] };
  const { insertId, affectedRows } = answer as ResultSetHeader;
  // An id beyond 2^53 comes as text.
  const id = BigInt(insertId);
  return {
    ...(id !== 0n && { insertId: id }),
    numAffectedRows: BigInt(affectedRows),
    rows: [],
  };
};
