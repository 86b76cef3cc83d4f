import { existsSync } from 'node:fs';
import { Database } from '../../adapters/kysely/database.ts';
import { databaseFile } from '../../adapters/kysely/engine/database-kind.ts';
import {
  knownMigrations,
  migrationStates,
  strangeSchema,
  UnfinishedDatabase,
} from '../../adapters/kysely/migrations.ts';
import { commandName } from '../version.ts';
import type { Config } from '../settings/config.ts';
import { databasePlace, databaseProblem } from '../failure-words.ts';
import type { OtherClock } from './check-clock.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

/** Changes nothing, and makes no SQLite file. */
export const checkDatabase = async ({ databaseUrl }: Config): Promise<readonly Finding[]> => {
  const place = databasePlace(databaseUrl);
  if (isMissing(databaseUrl)) return [ok(`${place} does not exist yet; the first start makes it.`)];
  try {
    const states = await usingDatabase(databaseUrl, migrationStates);
    const applied = states.filter(({ executedAt }) => executedAt !== undefined);
    const names = applied.map(({ name }) => name);
    const strange = strangeSchema(names, knownMigrations, place);
    if (strange) return [failed(strange.seen, strange.advice)];
    const pending = states.length - applied.length;
    if (pending === 0) return [ok(`${place} answers, and its schema is up to date.`)];
    const advice = `Run ${commandName()} migrate up, or start the service.`;
    return [warning(`${place} answers; ${String(pending)} migrations are pending.`, advice)];
  } catch (error) {
    if (error instanceof UnfinishedDatabase) return [failed(error.message, noService)];
    const { seen, advice } = databaseProblem(databaseUrl, error);
    return [failed(seen, advice)];
  }
};

const noService = 'Until then, no service starts on it.';

/** The database's clock; undefined if it has none of its own, or does not answer. */
export const databaseClock = async (databaseUrl: string): Promise<OtherClock | undefined> => {
  if (isMissing(databaseUrl)) return undefined;
  const ask = async (database: Database) => {
    const clock = database.engine.clock();
    return clock && (await database.run((db) => clock.execute(db)));
  };
  const result = await usingDatabase(databaseUrl, ask).catch(() => undefined);
  return result && { name: 'the database', time: Number(result.rows[0]?.ms), here: Date.now() };
};

export const usingDatabase = async <T>(
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<T> => {
  const database = new Database(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
};

export const isMissing = (databaseUrl: string): boolean => {
  const file = databaseFile(databaseUrl);
  return file !== undefined && !existsSync(file);
};
