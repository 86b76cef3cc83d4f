import { join } from 'node:path';
import { lockedPackages } from '../test/support/locked-packages.ts';
import { withMariaDb } from './maria-db.ts';
import { startBare, startService, type Server } from './programs.ts';
import { atLeast, target, type Report } from './report.ts';
import { inTurns, rateLines, ratio, type Side } from './rounds.ts';
import { animals, storeWithAnimals, type BenchStore } from './store.ts';
import { wrkSide } from './wrk.ts';

const path = '/v1/pets?limit=20';

/**
 * `GET /v1/pets?limit=20` on SQLite against a bare node:http server with the same features, and against Fastify. A bare
 * server that does less shows what the features cost.
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

/** The same on MySQL, against a bare server that asks by `execute`. */
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

/** A server that answers 20 animals. @param rest of the query @throws Error when it answers anything else */
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
