import { existsSync } from 'node:fs';
import { backupTimes, type BackupTimes } from '../../adapters/kysely/copies/database-copies.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { databaseFile } from '../../adapters/kysely/engine/database-kind.ts';
import {
  knownMigrations,
  migrationStates,
  unknownSchema,
  UnfinishedDatabase,
} from '../../adapters/kysely/migrations.ts';
import { hourMs } from '../../kernel/durations.ts';
import { commandName } from '../version.ts';
import type { Config } from '../settings/settings.ts';
import { databasePlace, databaseProblem } from '../failure-words.ts';
import { failed, type Finding, ok, warning } from './finding.ts';

export const checkDatabase = async ({ databaseUrl }: Config): Promise<readonly Finding[]> => {
  const place = databasePlace(databaseUrl);
  if (isMissing(databaseUrl))
    return [ok(`${place} does not exist yet; the first start creates it.`)];
  try {
    const states = await usingDatabase(databaseUrl, migrationStates);
    const applied = states.filter(({ executedAt }) => executedAt !== undefined);
    const names = applied.map(({ name }) => name);
    const strange = unknownSchema(names, knownMigrations, place);
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

/** @returns undefined if the database has no clock or does not answer */
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

/** Allows a nightly backup that takes up to two hours. The alert BackupLate uses the same number. */
const mostAgeMs = 26 * hourMs;

/** Finds nothing if the database is unavailable or missing, because another check reports that. */
export const checkBackups = async ({ databaseUrl }: Config): Promise<readonly Finding[]> => {
  if (isMissing(databaseUrl)) return [];
  const times = await usingDatabase(databaseUrl, backupTimes).catch(() => undefined);
  return times ? judgeBackups(times, new Date()) : [];
};

export const judgeBackups = (
  { since, made, checked }: BackupTimes,
  now: Date,
): readonly Finding[] => {
  const isOld = (moment: Date) => now.getTime() - moment.getTime() > mostAgeMs;
  if (!made) {
    const seen = 'No backup of this database has been made yet.';
    return [isOld(since) ? warning(seen, everyNight) : ok(seen)];
  }
  const last = `The last backup is of ${made.toISOString()}`;
  if (isOld(made)) return [warning(`${last}.`, everyNight)];
  if (!checked) return [warning(`${last}; none was ever checked.`, check)];
  const seen = `${last}; the last checked one is of ${checked.toISOString()}.`;
  return [isOld(checked) ? warning(seen, check) : ok(seen)];
};

const everyNight = `Run ${commandName()} backup every night, and find out why it fails.`;
const check = `Run ${commandName()} backup check after each backup.`;

/**
 * The tolerated difference in seconds. Processes of a fleet share leases, and authorities refuse requests dated in the
 * future.
 */
const tolerated = 2;
const harmful = 30;
/** Additional seconds, because an HTTP date has whole seconds, and the answer took some time. */
const coarse = 1.5;

export interface OtherClock {
  readonly name: string;
  /** The clock's time in milliseconds; NaN if unknown. */
  readonly time: number;
  readonly here: number;
}

export const judgeClocks = (others: readonly (OtherClock | undefined)[]): readonly Finding[] => {
  const known = others.flatMap((one) => (one && Number.isFinite(one.time) ? [one] : []));
  if (known.length === 0) return [ok('No other clock to compare with.')];
  return known.map(({ name, time, here }) => {
    const apart = Math.max(0, Math.abs(time - here) / 1000 - coarse);
    const seen = `The clock of this machine and that of ${name} are ${apart.toFixed(1)} s apart.`;
    const advice = 'Let an NTP service set the clocks.';
    if (apart <= tolerated) return ok(`The clock of this machine agrees with that of ${name}.`);
    return apart <= harmful ? warning(seen, advice) : failed(seen, advice);
  });
};
