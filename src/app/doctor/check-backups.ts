import { backupTimes, type BackupTimes } from '../../adapters/kysely/copies/database-copies.ts';
import { commandName } from '../command-name.ts';
import type { Config } from '../settings/config.ts';
import { isMissing, usingDatabase } from './check-database.ts';
import { ok, warning, type Finding } from './finding.ts';

/** Of a nightly backup that takes up to two hours; the alert BackupLate has the same. */
const mostAgeMs = 26 * 3_600_000;

/** Nothing where the database is away or not yet made: the check of the database says so. */
export const checkBackups = async ({ databaseUrl }: Config): Promise<readonly Finding[]> => {
  if (isMissing(databaseUrl)) return [];
  const times = await usingDatabase(databaseUrl, backupTimes).catch(() => undefined);
  return times ? judgeBackups(times, new Date()) : [];
};

/** Whether backups of this database go on. */
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
  const seen = `${last}, the last one that was checked of ${checked.toISOString()}.`;
  return [isOld(checked) ? warning(seen, check) : ok(seen)];
};

const everyNight = `Run ${commandName()} backup every night, and see why it does not end well.`;
const check = `Run ${commandName()} backup check after each backup.`;
