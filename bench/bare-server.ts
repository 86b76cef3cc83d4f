import { createServer } from 'node:http';
import SqliteDatabase from 'better-sqlite3';
import { createPool, type RowDataPacket } from 'mysql2/promise';
import { bareAccess, headersOf } from './bare-access.ts';
import { exact, fullHeaders, record } from './full-answers.ts';

/**
 * What to compare a list with: node:http, a key check, counters, three headers, and the one prepared query of
 * `GET /v1/pets?limit=20`, by better-sqlite3 or by mysql2. With `full` it also does for a request what ours does: all
 * headers, exact integers, a line of the log and a measure.
 */
const [port = '', url = '', accountId = '', secret = '', kind = ''] = process.argv.slice(2);
const isFull = kind === 'full';

interface Row {
  readonly id: number | bigint | string;
  readonly name: string;
  readonly category_id: number | bigint | string;
  readonly status: string;
}

const query = (limit: string) =>
  `select id, name, category_id, status from pets where account_id = ${limit} and id > ${limit} order by id limit ${limit}`;

const sqliteList = (path: string) => {
  const file = new SqliteDatabase(path, { readonly: true });
  // SQLite plans again for each value of a parameter that it sees while planning; a plus sign hides it.
  const list = file.prepare(query('+?')).safeIntegers(isFull);
  return (account: string) => list.all(account, 0, 21) as readonly Row[];
};

const mysqlList = () => {
  const exactly = { supportBigNumbers: isFull, bigNumberStrings: isFull };
  const pool = createPool({ uri: url, connectionLimit: 10, ...exactly });
  return async (account: string) => {
    const [rows] = await pool.execute<(Row & RowDataPacket)[]>(query('?'), [account, 0, '21']);
    return rows;
  };
};

const list = url.startsWith('sqlite:') ? sqliteList(url.slice('sqlite:'.length)) : mysqlList();
const admit = bareAccess({ [secret]: accountId });

const bodyOf = (rows: readonly Row[]): string =>
  JSON.stringify(
    rows.slice(0, 20).map(({ id, name, category_id, status }) => ({
      id: integer(id),
      name,
      categoryId: integer(category_id),
      status,
    })),
  );

const integer = (value: number | bigint | string): unknown =>
  typeof value === 'number' ? value : exact(BigInt(value));

createServer((request, response) => {
  const key = admit(request);
  if (!key) {
    response.writeHead(401).end();
    return;
  }
  const begun = performance.now();
  const answer = (rows: readonly Row[]): void => {
    const body = bodyOf(rows);
    const last = String(rows.at(-2)?.id);
    const headers = isFull ? fullHeaders(key, body, last) : headersOf(key, body);
    response.writeHead(200, [...headers]);
    response.end(body);
    if (isFull) record(begun, headers[1] ?? '');
  };
  const found = list(key.accountId);
  if (found instanceof Promise) {
    found.then(answer, (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.writeHead(500).end();
    });
  } else answer(found);
}).listen(Number(port), '127.0.0.1');
