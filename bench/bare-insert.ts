import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import SqliteDatabase from 'better-sqlite3';
import { createPool, type ResultSetHeader } from 'mysql2/promise';

/**
 * Baseline for creating an animal: node:http that parses and checks the JSON. On SQLite it runs one prepared insert,
 * which is on disk before the answer; on MySQL it runs the statements of a create with `execute`.
 */
const [port = '', url = '', accountId = ''] = process.argv.slice(2);

interface Draft {
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

const draftFrom = (body: string): Draft | undefined => {
  const { name, categoryId, status = 'available' } = JSON.parse(body) as Partial<Draft>;
  if (typeof name !== 'string' || name === '' || !Number.isSafeInteger(categoryId))
    return undefined;
  if (!['available', 'pending', 'sold'].includes(status)) return undefined;
  return { name, categoryId: categoryId ?? 0, status };
};

const insertText =
  'insert into pets (account_id, name, category_id, status, searched_name) values (?, ?, ?, ?, ?)';
const eventText =
  'insert into events (id, account_id, type, details, occurred_at, actor) values (?, ?, ?, ?, ?, ?)';

type Insert = (draft: Draft) => number | bigint | Promise<number>;

const sqliteInsert = (path: string): Insert => {
  const file = new SqliteDatabase(path);
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON']) {
    file.pragma(pragma);
  }
  const insert = file.prepare(insertText);
  return ({ name, categoryId, status }) =>
    insert.run(accountId, name, categoryId, status, name.toUpperCase()).lastInsertRowid;
};

const mysqlInsert = (): Insert => {
  const pool = createPool({ uri: url, connectionLimit: 10 });
  return async ({ name, categoryId, status }) => {
    const connection = await pool.getConnection();
    try {
      await connection.beginTransaction();
      const values = [accountId, name, categoryId, status, name.toUpperCase()];
      const [{ insertId }] = await connection.execute<ResultSetHeader>(insertText, values);
      const details = JSON.stringify({ petId: String(insertId) });
      const event = [`evt_${randomUUID()}`, accountId, 'pet_added', details, Date.now(), 'service'];
      await connection.execute(eventText, event);
      await connection.commit();
      return insertId;
    } finally {
      connection.release();
    }
  };
};

const insert = url.startsWith('sqlite:')
  ? sqliteInsert(url.slice('sqlite:'.length))
  : mysqlInsert();

/** Uses listeners, because they cost less than an async iterator. */
const bodyOf = (request: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => (body += text));
    request.once('end', () => {
      resolve(body);
    });
    request.once('error', reject);
  });

const create = async (request: IncomingMessage): Promise<readonly [number, string]> => {
  const draft = request.method === 'POST' ? draftFrom(await bodyOf(request)) : undefined;
  if (!draft) return [400, '{"code":"invalid"}'];
  return [201, JSON.stringify({ id: Number(await insert(draft)), ...draft })];
};

createServer((request, response) => {
  create(request).then(
    ([status, body]) => {
      response.writeHead(status, [
        'Content-Type',
        'application/json; charset=utf-8',
        'Content-Length',
        String(Buffer.byteLength(body)),
      ]);
      response.end(body);
    },
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.writeHead(500).end();
    },
  );
}).listen(Number(port), '127.0.0.1');
