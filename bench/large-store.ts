import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Cursors } from '../src/adapters/http/operations/cursors.ts';
import { listSide } from './list-pets.ts';
import { startService } from './programs.ts';
import { atLeast, target, type Report } from './report.ts';
import { inTurns, rateLines, ratio } from './rounds.ts';
import { storeWithAnimals, type BenchStore } from './store.ts';

const few = 1000;
/** Fewer take less time and space: ten million fill 1.6 GB. */
const many = Number(process.env['ANIMALS'] ?? 10_000_000);
const secretKey = 'a-key-of-the-bench-which-signs-its-cursors';

/** Pages of a list of very many animals, the first and the last, against the first page of a short list. */
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

/** The page of the last 20 animals, where a client comes by following the links of half a million pages. */
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

/** Inside SQLite, and without waiting for the disk: a minute for ten million. */
const addAnimals = (path: string, accountId: string, count: number): void => {
  const file = new SqliteDatabase(path);
  file.pragma('journal_mode = OFF');
  file.pragma('synchronous = OFF');
  file
    .prepare(
      `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ?)
       insert into pets (account_id, name, category_id, status)
       select ?, 'Animal ' || n, 1 + n % 9, 'available' from numbers`,
    )
    .run(count, accountId);
  file.pragma('journal_mode = WAL');
  file.close();
};
