import type { Connection, PrepareStatementInfo, QueryError, RowDataPacket } from 'mysql2';

/** As mysql2 calls back; `fields` describe the columns. */
export type Answered = (error: QueryError | null, answer?: unknown, fields?: unknown) => void;

/** Only statements that are compiled once are prepared; this many are never reached. */
const mostStatements = 100;

const errnos = { noRoomForStatements: 1461, unknownStatement: 1243, changedTable: 1615 };

/**
 * The statements that one connection has prepared. A server that keeps no more of them (`max_prepared_stmt_count`), or
 * has forgotten one, gets the statement as text.
 */
export class MysqlStatements {
  readonly #connection: Connection;
  readonly #known = new Map<string, PrepareStatementInfo>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  execute(sql: string, values: readonly unknown[], answered: Answered): void {
    const known = this.#known.get(sql);
    if (known) this.#executeKnown(known, { sql, values }, answered);
    else if (this.#known.size >= mostStatements) this.#asText({ sql, values }, answered);
    else this.#prepare({ sql, values }, answered);
  }

  #prepare(query: Query, answered: Answered): void {
    this.#connection.prepare(query.sql, (error, statement) => {
      if (error?.errno === errnos.noRoomForStatements) this.#asText(query, answered);
      else if (error) answered(error);
      else {
        this.#known.set(query.sql, statement);
        this.#executeKnown(statement, query, answered);
      }
    });
  }

  #executeKnown(statement: PrepareStatementInfo, query: Query, answered: Answered): void {
    statement.execute<RowDataPacket[]>(query.values, (error, rows, fields) => {
      const { unknownStatement, changedTable } = errnos;
      if (error && [unknownStatement, changedTable].includes(error.errno ?? 0)) {
        this.#known.delete(query.sql);
        this.#connection.unprepare(query.sql);
        this.#asText(query, answered);
      } else answered(error, rows, fields);
    });
  }

  #asText({ sql, values }: Query, answered: Answered): void {
    this.#connection.query({ sql, values: [...values] as string[] }, answered);
  }
}

interface Query {
  readonly sql: string;
  readonly values: readonly unknown[];
}
