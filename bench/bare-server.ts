import { createServer } from 'node:http';
import SqliteDatabase from 'better-sqlite3';

/** The floor to compare with: node:http and the one prepared query of `GET /v1/pets?limit=20`, nothing else. */
const [path = '', port = '', accountId = ''] = process.argv.slice(2);

const file = new SqliteDatabase(path, { readonly: true });
const list = file.prepare(
  'select id, name, category_id, status from pets where account_id = +? and id > +? order by id limit +?',
);

interface Row {
  readonly id: number;
  readonly name: string;
  readonly category_id: number;
  readonly status: string;
}

createServer((_request, response) => {
  const rows = list.all(accountId, 0, 21) as readonly Row[];
  const pets = rows
    .slice(0, 20)
    .map(({ id, name, category_id, status }) => ({ id, name, categoryId: category_id, status }));
  const body = JSON.stringify(pets);
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}).listen(Number(port), '127.0.0.1');
