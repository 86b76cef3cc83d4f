import type { Connection, RowDataPacket } from 'mysql2';
import { failureOf } from './failure.ts';

const sqlMode = [
  ...['STRICT_ALL_TABLES', 'NO_ZERO_DATE', 'NO_ZERO_IN_DATE'],
  ...['ERROR_FOR_DIVISION_BY_ZERO', 'NO_ENGINE_SUBSTITUTION'],
];

/**
 * What each connection must have, whatever the server's own settings and its `init_connect` make of it. Names as
 * `show session variables` gives them; where MySQL and MariaDB differ, either.
 */
const wanted = (lockSeconds: number): readonly (readonly [names: string, value: string])[] => [
  ['character_set_client', 'utf8mb4'],
  ['character_set_connection', 'utf8mb4'],
  ['character_set_results', 'utf8mb4'],
  ['collation_connection', 'utf8mb4_bin'],
  ['autocommit', 'ON'],
  ['time_zone', '+00:00'],
  ['innodb_lock_wait_timeout', String(lockSeconds)],
  ['sql_mode', sqlMode.join()],
  ['foreign_key_checks', 'ON'],
  ['unique_checks', 'ON'],
  ['completion_type', 'NO_CHAIN'],
  ['sql_safe_updates', 'OFF'],
  ['sql_select_limit', '18446744073709551615'],
  ['transaction_isolation|tx_isolation', 'READ-COMMITTED'],
  ['transaction_read_only|tx_read_only', 'OFF'],
];

/** How they are set: `set names` is two of them, and two statements do for all. */
const statements = (lockSeconds: number): readonly string[] => [
  'set session transaction isolation level read committed, read write',
  'set character_set_client = utf8mb4, character_set_results = utf8mb4, ' +
    `collation_connection = utf8mb4_bin, autocommit = 1, time_zone = '+00:00', ` +
    `innodb_lock_wait_timeout = ${String(lockSeconds)}, sql_mode = '${sqlMode.join()}', ` +
    `foreign_key_checks = 1, unique_checks = 1, completion_type = 'NO_CHAIN', ` +
    'sql_safe_updates = 0, sql_select_limit = default',
];

/**
 * Sets what a new connection must have, and looks whether it holds.
 * @param done gets the error of the server, or one with code `SESSION_REFUSED` that names what it keeps otherwise
 */
export const prepareSession = (
  connection: Connection,
  lockSeconds: number,
  done: (error: unknown) => void,
): void => {
  let refused: unknown;
  for (const sql of statements(lockSeconds)) {
    // One after the other, in this order: mysql2 keeps a queue for each connection.
    connection.query(sql, (error) => {
      refused ??= error ?? undefined;
    });
  }
  const expected = wanted(lockSeconds);
  const look = 'show session variables where variable_name in (?)';
  const names = expected.flatMap(([either]) => either.split('|'));
  connection.query<RowDataPacket[]>(look, [names], (error, rows) => {
    const failure = refused ?? error ?? undefined;
    done(failure === undefined ? faultOf(rows, expected) : asRefusal(failure));
  });
};

/** What only says that the server is away stays as it is. */
const asRefusal = (error: unknown): unknown =>
  failureOf(error) === 'unavailable'
    ? error
    : sessionRefused(error instanceof Error ? error.message : String(error));

const sessionRefused = (why: string): Error =>
  Object.assign(new Error(`the server does not let this user set its session: ${why}`), {
    code: 'SESSION_REFUSED',
  });

const faultOf = (
  rows: readonly RowDataPacket[],
  expected: ReturnType<typeof wanted>,
): Error | undefined => {
  const values = new Map(rows.map((row) => [row['Variable_name'], String(row['Value'])]));
  const faults = expected.flatMap(([either, right]) => {
    const value = either
      .split('|')
      .map((name) => values.get(name))
      .find((one) => one !== undefined);
    const isRight = value !== undefined && inOneOrder(value) === inOneOrder(right);
    return isRight ? [] : [`${either} is "${value ?? ''}" and has to be "${right}"`];
  });
  return faults.length === 0 ? undefined : sessionRefused(faults.join('; '));
};

/** Servers give the words of `sql_mode` back in an order of their own. */
const inOneOrder = (value: string): string => value.split(',').sort().join();
