import { hash, randomUUID } from 'node:crypto';
import { type IncomingMessage, createServer } from 'node:http';
import { writeSync } from 'node:fs';
import SqliteDatabase from 'better-sqlite3';
import { createPool, type RowDataPacket } from 'mysql2/promise';

const [minuteMs, dayMs] = [60_000, 86_400_000];
const limits = { minute: 100_000_000, day: 1_000_000_000 };

/** A key and its number of uses in the current minute and day. */
interface Counted {
  readonly accountId: string;
  minute: number;
  day: number;
  inMinute: number;
  inDay: number;
}

/** The access check of all bare servers: finds keys by their hash and counts uses by minute and day. */
const bareAccess = (keys: Readonly<Record<string, string>>) => {
  const known = new Map(
    Object.entries(keys).map(([secret, accountId]): [string, Counted] => [
      hash('sha256', secret),
      { accountId, minute: 0, day: 0, inMinute: 0, inDay: 0 },
    ]),
  );
  /** @returns the key's counts including this request, or undefined if it is refused */
  return ({ headers: { authorization = '' } }: IncomingMessage): Counted | undefined => {
    if (!authorization.startsWith('Bearer ')) return undefined;
    const key = known.get(hash('sha256', authorization.slice(7)));
    if (key) count(key, Date.now());
    return key && key.inMinute <= limits.minute && key.inDay <= limits.day ? key : undefined;
  };
};

const count = (key: Counted, now: number): void => {
  const [minute, day] = [Math.floor(now / minuteMs), Math.floor(now / dayMs)];
  if (key.minute !== minute) [key.minute, key.inMinute] = [minute, 0];
  if (key.day !== day) [key.day, key.inDay] = [day, 0];
  key.inMinute += 1;
  key.inDay += 1;
};

/** The three rate-limit headers and the headers of a JSON body. */
const headersOf = ({ minute, inMinute }: Counted, body: string): readonly string[] => [
  'Content-Type',
  'application/json; charset=utf-8',
  'Content-Length',
  String(Buffer.byteLength(body)),
  'X-RateLimit-Limit',
  String(limits.minute),
  'X-RateLimit-Remaining',
  String(limits.minute - inMinute),
  'X-RateLimit-Reset',
  String(((minute + 1) * minuteMs) / 1000),
];

// ECMAScript's "JSON.parse source text access": in Node since 22, not yet in TypeScript's library.
declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

/** An int64, digit for digit. */
const exact = (value: bigint): unknown =>
  value <= Number.MAX_SAFE_INTEGER ? Number(value) : JSON.rawJSON(String(value));

const cursorSecret = randomUUID();

/** The headers of our list: request id, limits in both forms, and a link to the next page that nobody can forge. */
const fullHeaders = (key: Counted, body: string, last: string): readonly string[] => {
  const cursor = `${last}.${hash('sha3-256', cursorSecret + key.accountId + last, 'base64url').slice(0, 22)}`;
  const left = Math.ceil(((key.minute + 1) * 60_000 - Date.now()) / 1000);
  return [
    ...['X-Request-Id', randomUUID(), 'X-Content-Type-Options', 'nosniff'],
    ...['Cache-Control', 'no-store', ...headersOf(key, body)],
    ...['RateLimit-Policy', '"minute";q=100000000;w=60, "day";q=1000000000;w=86400'],
    ...['RateLimit', `"minute";r=${String(100_000_000 - key.inMinute)};t=${String(left)}`],
    ...['Link', `<http://127.0.0.1/v1/pets?limit=20&cursor=${cursor}>; rel="next"`],
  ];
};

const buckets = [1, 2.5, 5, 10, 25, 50, 100, 250, 1000, 5000, Infinity];
const counted = buckets.map(() => 0);
let lines = '';

/** Writes log lines in batches and keeps a histogram of times. */
const record = (begun: number, requestId: string): void => {
  const ms = performance.now() - begun;
  const at = buckets.findIndex((limit) => ms <= limit);
  counted[at] = (counted[at] ?? 0) + 1;
  lines +=
    `{"level":30,"time":${String(Date.now())},"requestId":"${requestId}","method":"GET",` +
    `"path":"/v1/pets","status":200,"ms":${ms.toFixed(2)}}\n`;
  if (lines.length < 16_000) return;
  writeSync(1, lines);
  lines = '';
};

/**
 * Baseline for a list: node:http with a key check, counters and three headers. It runs the one prepared query of `GET
 * /v1/pets?limit=20` with better-sqlite3 or mysql2. With `full` it also does what our service does for each request:
 * all headers, exact integers, a log line and a measure.
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
  // SQLite plans again for each value of a parameter that it sees while planning. A plus sign hides the value.
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
