import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { lockedPackages } from '../test/support/locked-packages.ts';
import { withMariaDb, animals, storeWithAnimals, type BenchStore } from './store.ts';
import { startBare, startService, type Server } from './programs.ts';
import { atLeast, target, type Report } from './report.ts';
import { inTurns, rateLines, ratio, type Side, wrkSide } from './rounds.ts';
import { Cursors } from '../src/adapters/http/operations/cursors.ts';

const path = '/v1/pets?limit=20';

/**
 * Compares `GET /v1/pets?limit=20` on SQLite with a bare node:http server that has the same features, and with Fastify.
 * A bare server with fewer features shows what they cost.
 */
export const listOnSqlite = async (folder: string): Promise<Report> => {
  const url = `sqlite:${join(folder, 'list.db')}`;
  const settings = { DATABASE_URL: url, DATA_DIR: folder, ROLES: 'api' };
  const store = await storeWithAnimals(settings);
  const args = [url, store.accountId, store.secret];
  const lean = await listSide(
    'bare, no features',
    await startBare('bare-server.ts', ...args),
    store,
  );
  const full = await startBare('bare-server.ts', ...args, 'full');
  const bare = await listSide('bare node:http', full, store);
  await lockedPackages(join(import.meta.dirname, 'fastify'));
  const assembly = await startBare('fastify/server.js', ...args);
  const fastify = await listSide('Fastify, Kysely', assembly, store);
  const ours = await listSide('animal-store', await startService(settings), store);
  const sides = [lean, bare, fastify, ours];
  const measured = await inTurns(sides);
  return {
    heading: `list ${String(animals)} animals by pages of 20, SQLite, 32 connections`,
    lines: rateLines(measured),
    targets: [
      target('list, SQLite, of bare node:http', ratio(measured, ours, bare), atLeast(0.85)),
      target('list, SQLite, of Fastify', ratio(measured, ours, fastify), atLeast(1.5)),
    ],
  };
};

/** Does the same on MySQL, compared with a bare server that queries with `execute`. */
export const listOnMysql = (folder: string): Promise<Report> =>
  withMariaDb(async (newDatabase) => {
    const url = await newDatabase();
    const settings = { DATABASE_URL: url, DATA_DIR: folder, ROLES: 'api' };
    const store = await storeWithAnimals(settings);
    const args = [url, store.accountId, store.secret];
    const lean = await listSide(
      'bare, no features',
      await startBare('bare-server.ts', ...args),
      store,
    );
    const full = await startBare('bare-server.ts', ...args, 'full');
    const bare = await listSide('bare mysql2', full, store);
    const ours = await listSide('animal-store', await startService(settings), store);
    const measured = await inTurns([lean, bare, ours]);
    return {
      heading: `list ${String(animals)} animals by pages of 20, MySQL, 32 connections`,
      lines: rateLines(measured),
      targets: [target('list, MySQL, of bare mysql2', ratio(measured, ours, bare), atLeast(0.85))],
    };
  });

/** Creates a side whose server answers 20 animals. @param rest of the query @throws Error for any other answer */
export const listSide = async (
  name: string,
  server: Server,
  { secret }: Pick<BenchStore, 'secret'>,
  rest = '',
): Promise<Side> => {
  const url = server.origin + path + rest;
  const headers = { Authorization: `Bearer ${secret}` };
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  const pets: unknown = answer.ok ? JSON.parse(text) : undefined;
  if (!Array.isArray(pets) || pets.length !== 20) {
    throw new Error(`${name} answers ${String(answer.status)}: ${text}`);
  }
  return wrkSide(name, server, { url, headers, leastBytes: text.length });
};

const few = 1000;
/** Set `ANIMALS` lower to save time and space: ten million fill 1.6 GB. */
const many = Number(process.env['ANIMALS'] ?? 10_000_000);
const secretKey = 'a-key-of-the-bench-which-signs-its-cursors';

/** Compares the first and the last page of a very long list with the first page of a short list. */
export const largeStoreBench = async (folder: string): Promise<Report> => {
  const short = await storeOf(join(folder, 'few'), few);
  const long = await storeOf(join(folder, 'many'), many);
  const server = await startService(long.settings);
  const sides = {
    short: await listSide(`${String(few)} animals`, await startService(short.settings), short),
    first: await listSide(`${String(many)}, first page`, server, long),
    last: await listSide(`${String(many)}, last page`, server, long, lastPage(long)),
  };
  const measured = await inTurns([sides.short, sides.first, sides.last]);
  const same = atLeast(0.9);
  return {
    heading: `list ${String(many)} animals by pages of 20, SQLite, 32 connections`,
    lines: rateLines(measured),
    targets: [
      target(
        `list, ${String(many)} animals of ${String(few)}`,
        ratio(measured, sides.first, sides.short),
        same,
      ),
      target(
        `list, ${String(many)} animals, last page of first`,
        ratio(measured, sides.last, sides.first),
        same,
      ),
    ],
  };
};

/** The page with the last 20 animals. A client would reach it by following the links of half a million pages. */
const lastPage = ({ accountId }: BenchStore): string => {
  const scope = { list: 'pets', accountId, filter: '' } as const;
  const cursor = new Cursors([Buffer.from(secretKey)]).encode(scope, BigInt(many - 20));
  return `&cursor=${cursor}`;
};

const storeOf = async (folder: string, count: number) => {
  const file = join(folder, 'animals.db');
  const settings = {
    DATABASE_URL: `sqlite:${file}`,
    DATA_DIR: folder,
    ROLES: 'api',
    SECRET_KEY: secretKey,
  };
  const store = await storeWithAnimals(settings, 0);
  addAnimals(file, store.accountId, count);
  return { ...store, settings };
};

/** Inserts within SQLite and without waiting for the disk, so that ten million take a minute. */
const addAnimals = (path: string, accountId: string, count: number): void => {
  const file = new SqliteDatabase(path);
  file.pragma('journal_mode = OFF');
  file.pragma('synchronous = OFF');
  file
    .prepare(
      `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?)
       insert into pets (account_id, name, category_id, status, searched_name)
       select ?, 'Animal ' || n, 1 + n % 9, 'available', 'ANIMAL ' || n from numbers`,
    )
    .run(count, accountId);
  file.pragma('journal_mode = WAL');
  file.close();
};
