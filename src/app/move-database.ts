import { mysqlObstacle } from '../adapters/kysely/copies/mysql-claim.ts';
import { moveToMysql, type OnMoved } from '../adapters/kysely/copies/move.ts';
import { withSqliteSource, type SqliteSource } from '../adapters/kysely/copies/sqlite-source.ts';
import { databaseFile, kindOfUrl } from '../adapters/kysely/engine/database-kind.ts';
import { failureOf } from '../adapters/kysely/engine/failure.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import { schemaGap } from './backup/schema.ts';
import { commandName } from './command-name.ts';
import { isMissing } from './doctor/check-database.ts';
import { databasePlace, databaseProblem } from './failure-words.ts';
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
    const rows = await intoTarget(source, to, onMoved);
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

const intoTarget = async (
  source: SqliteSource,
  to: string,
  onMoved: OnMoved,
): Promise<Moved['rows']> => {
  try {
    const obstacle = await mysqlObstacle(to);
    if (obstacle === undefined) return await moveToMysql(source, to, onMoved);
    const problem = `The database ${databasePlace(to)} is in use or not empty: ${obstacle}.`;
    throw new Error(`${problem} Name an empty one; its tables are made by the move.`);
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    const isOfSource = String(code).startsWith('SQLITE_');
    if (isOfSource || message.endsWith('.')) throw error;
    const isAway = error instanceof Unavailable || failureOf(error) === 'unavailable';
    const { seen, advice } = databaseProblem(to, error, '--to');
    const refused = `The database ${databasePlace(to)} refused it: ${message}.`;
    throw new Error(isAway ? `${seen} ${advice}` : refused, { cause: error });
  }
};
