import {
  moveToMysql,
  withSqliteSource,
  type OnMoved,
  type SqliteSource,
} from '../adapters/kysely/copies/move.ts';
import { mysqlObstacle } from '../adapters/kysely/copies/mysql-claim.ts';
import { databaseFile, kindOfUrl } from '../adapters/kysely/engine/database-kind.ts';
import { failureOf } from '../adapters/kysely/engine/failure.ts';
import { Unavailable } from '../kernel/ports.ts';
import { schemaGap } from './backup/manifest.ts';
import { refuseHalfRestored } from './data-folder.ts';
import { isMissing } from './doctor/check-database.ts';
import { databasePlace, databaseProblem } from './failure-words.ts';
import type { Config } from './settings/settings.ts';
import { commandName } from './version.ts';

export interface Moved {
  /** The address without user and password, like `to`. */
  readonly from: string;
  readonly to: string;
  readonly rows: Readonly<Record<string, number>>;
}

/** @throws Error with advice */
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
  const { pending, unknown } = schemaGap({ migrations });
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

/** @param option names the database, such as --to @throws Error with advice */
export const intoEmptyMysql = async <T>(
  url: string,
  option: string,
  fill: () => Promise<T>,
): Promise<T> => {
  const place = databasePlace(url);
  try {
    const obstacle = await mysqlObstacle(url);
    if (obstacle === undefined) return await fill();
    throw new Error(
      `The database ${place} is in use or not empty: ${obstacle}. Name an empty one.`,
    );
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    const isOfSource = String(code).startsWith('SQLITE_');
    if (isOfSource || message.endsWith('.')) throw error;
    const isAway = error instanceof Unavailable || failureOf(error) === 'unavailable';
    const { seen, advice } = databaseProblem(url, error, option);
    const refused = `The database ${place} refused the move: ${message}.`;
    throw new Error(isAway ? `${seen} ${advice}` : refused, { cause: error });
  }
};
