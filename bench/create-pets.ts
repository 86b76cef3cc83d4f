import { join } from 'node:path';
import { withMariaDb, storeWithAnimals } from './store.ts';
import { startBare, startService, type Server } from './programs.ts';
import { atLeast, atMost, target, type Report } from './report.ts';
import { inTurns, rateLines, ratio, type Side, postScript, wrkSide } from './rounds.ts';

const animal = { name: 'Rex', categoryId: 3, status: 'available' };
const path = '/v1/pets';

/** Compares `POST /v1/pets` on SQLite, in a process with all roles, with one durable insert per request. */
export const createOnSqlite = async (folder: string): Promise<Report> => {
  const bareUrl = `sqlite:${join(folder, 'bare.db')}`;
  const other = await storeWithAnimals({ DATABASE_URL: bareUrl, DATA_DIR: folder }, 0);
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'create.db')}`, DATA_DIR: folder };
  const { secret } = await storeWithAnimals(settings, 0);
  const bare = await startBare('bare-insert.ts', bareUrl, other.accountId);
  const ours = await startService(settings);
  const post = { secret, script: await postScript(folder, animal) };
  const once = { secret, script: await postScript(folder, animal, true) };
  const one = {
    bare: await createSide('durable insert, 1 connection', bare, { ...post, connections: 1 }),
    ours: await createSide('create, 1 connection', ours, { ...post, connections: 1 }),
  };
  const many = {
    bare: await createSide('durable insert, 32', bare, post),
    ours: await createSide('create, 32', ours, post),
    once: await createSide('create, 32, Idempotency-Key', ours, once),
  };
  const sides = [one.bare, one.ours, many.bare, many.ours, many.once];
  const measured = await inTurns(sides);
  const of = (side: Side, base: Side) => ratio(measured, side, base);
  const slower = ratio(measured, many.ours, many.bare, ({ p99Ms }) => p99Ms);
  return {
    heading: 'create animals, SQLite, all roles in one process',
    lines: rateLines(measured),
    targets: [
      target('create, SQLite, 1, of a durable insert', of(one.ours, one.bare), atLeast(0.6)),
      target('create, SQLite, 32, of durable inserts', of(many.ours, many.bare), atLeast(1.5)),
      target('create, SQLite, 32, p99 of that of durable inserts', slower, atMost(1)),
      target('create, SQLite, Idempotency-Key of without', of(many.once, many.ours), atLeast(0.8)),
    ],
  };
};

/** Does the same on MySQL with 32 connections, compared with the same statements sent by `execute` on a pool. */
export const createOnMysql = (folder: string): Promise<Report> =>
  withMariaDb(async (newDatabase) => {
    const [bareUrl, url] = [await newDatabase(), await newDatabase()];
    const other = await storeWithAnimals({ DATABASE_URL: bareUrl, DATA_DIR: folder }, 0);
    const settings = { DATABASE_URL: url, DATA_DIR: folder };
    const { secret } = await storeWithAnimals(settings, 0);
    const post = { secret, script: await postScript(folder, animal) };
    const bareServer = await startBare('bare-insert.ts', bareUrl, other.accountId);
    const bare = await createSide('bare mysql2', bareServer, post);
    const ours = await createSide('create', await startService(settings), post);
    const measured = await inTurns([bare, ours]);
    return {
      heading: 'create animals, MySQL, all roles in one process, 32 connections',
      lines: rateLines(measured),
      targets: [target('create, MySQL, of bare mysql2', ratio(measured, ours, bare), atLeast(0.6))],
    };
  });

interface Posting {
  readonly secret: string;
  readonly script: string;
  readonly connections?: number;
}

/** Creates a side whose server stores animals. @throws Error when the server's answer is not the animal */
export const createSide = async (name: string, server: Server, posting: Posting): Promise<Side> => {
  const { secret, script, connections = 32 } = posting;
  const url = server.origin + path;
  const headers = { Authorization: `Bearer ${secret}` };
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(animal),
  });
  const text = await answer.text();
  const stored = answer.status === 201 ? (JSON.parse(text) as { name?: unknown }) : {};
  if (stored.name !== animal.name) {
    throw new Error(`${name} answers ${String(answer.status)}: ${text}`);
  }
  const leastBytes = text.length;
  return wrkSide(name, server, { url, headers, script, connections, leastBytes });
};
