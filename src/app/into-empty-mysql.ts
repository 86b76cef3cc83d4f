import { mysqlObstacle } from '../adapters/kysely/copies/mysql-claim.ts';
import { failureOf } from '../adapters/kysely/engine/failure.ts';
import { Unavailable } from '../kernel/unavailable.ts';
import { databasePlace, databaseProblem } from './failure-words.ts';

/**
 * Fills the empty MySQL database that an option names.
 * @param option such as --to
 * @throws Error that says what to do
 */
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
    const refused = `The database ${place} refused it: ${message}.`;
    throw new Error(isAway ? `${seen} ${advice}` : refused, { cause: error });
  }
};
