import {
  moveToMysql,
  withSqliteSource,
  type OnMoved,
  type SqliteSource,
} from '../adapters/kysely/copies/move.ts';
import { databaseFile, kindOfUrl } from '../adapters/kysely/engine/database-kind.ts';
import { schemaGap } from './backup/schema.ts';
import { commandName } from './command-name.ts';
import { isMissing } from './doctor/check-database.ts';
import { databasePlace } from './failure-words.ts';
import { intoEmptyMysql } from './into-empty-mysql.ts';
import { refuseHalfRestored } from './restore-mark.ts';
import type { Config } from './settings/config.ts';

export interface Moved {
  /** Without user and password, as `to`. */
  readonly from: string;
  readonly to: string;
  /** How many each table has. */
  readonly rows: Readonly<Record<string, number>>;
}

/**
 * Copies the SQLite database of the settings, which stays as it is, into an empty MySQL database.
 * @throws Error that says what to do
 */
export const moveDatabase = async (
  config: Config,
  to: string,
  onMoved: OnMoved,
): Promise<Moved> => {
  const { databaseUrl } = config;
  const [from, target] = [databasePlace(databaseUrl), databasePlace(to)];
  const file = databaseFile(databaseUrl);
  if (file === undefined || kindOfUrl(to) !== 'mysql') {
    throw new Error(`Only SQLite can be moved, and only to MySQL: not ${from} to ${target}.`);
  }
  refuseHalfRestored(config);
  if (isMissing(databaseUrl)) throw new Error(`There is no database at ${from}.`);
  return withSqliteSource(file, async (source) => {
    await refuseOtherSchema(source);
    const rows = await intoEmptyMysql(to, '--to', () => moveToMysql(source, to, onMoved));
    return { from, to: target, rows };
  });
};

const refuseOtherSchema = async (source: SqliteSource): Promise<void> => {
  const { migrations } = await source.facts();
  const { pending, unknown } = await schemaGap({ migrations });
  if (unknown.length > 0 && pending.length > 0) {
    throw new Error(`Its schema is that of an unreleased build: ${unknown.join(', ')}.`);
  }
  if (unknown.length > 0) {
    throw new Error(`Its schema is newer than this version: ${unknown.join(', ')}. Use that one.`);
  }
  if (pending.length === 0) return;
  throw new Error(
    `Its schema is older: ${pending.join(', ')} is missing. Run ${commandName()} migrate first.`,
  );
};
