import type { RowDataPacket } from 'mysql2';
import { failureOf } from './failure.ts';
import type { GuardedConnection } from './mysql-connection.ts';
import { coded } from './mysql-places.ts';

const sqlMode = [
  ...['STRICT_ALL_TABLES', 'NO_ZERO_DATE', 'NO_ZERO_IN_DATE'],
  ...['ERROR_FOR_DIVISION_BY_ZERO', 'NO_ENGINE_SUBSTITUTION'],
];

/** How long a statement waits for locks of others. */
export interface LockSeconds {
  readonly row: number;
  /** By LOCK TABLES, or by a change of the schema. */
  readonly table: number;
}

/**
 * The server closes a connection that was silent for this long, and releases its locks. It does not notice a lost
 * network by itself, and its default is 8 hours.
 */
const silentSeconds = 60;

/**
 * Required session variables, whatever the server's defaults and `init_connect` are. Names as in `show session
 * variables`; either name where MySQL and MariaDB differ.
 */
const wanted = (lockSeconds: LockSeconds): readonly (readonly [names: string, value: string])[] => [
  ['character_set_client', 'utf8mb4'],
  ['character_set_connection', 'utf8mb4'],
  ['character_set_results', 'utf8mb4'],
  ['collation_connection', 'utf8mb4_bin'],
  ['autocommit', 'ON'],
  ['time_zone', '+00:00'],
  ['innodb_lock_wait_timeout', String(lockSeconds.row)],
  ['lock_wait_timeout', String(lockSeconds.table)],
  ['wait_timeout', String(silentSeconds)],
  ['sql_mode', sqlMode.join()],
  ['foreign_key_checks', 'ON'],
  ['unique_checks', 'ON'],
  ['completion_type', 'NO_CHAIN'],
  ['sql_safe_updates', 'OFF'],
  ['sql_select_limit', '18446744073709551615'],
  ['transaction_isolation|tx_isolation', 'READ-COMMITTED'],
  ['transaction_read_only|tx_read_only', 'OFF'],
];

/** Each statement that sets some of them; `set transaction` and the time-out are named apart. */
const statements = (lockSeconds: LockSeconds): readonly string[] => {
  const rest = wanted(lockSeconds).filter(
    ([name]) => name !== 'wait_timeout' && !name.includes('|'),
  );
  const assigned = rest.map(([name, value]) =>
    /^\d+$/.test(value) ? `${name} = ${value}` : `${name} = '${value}'`,
  );
  return [
    'set session transaction isolation level read committed, read write',
    `set wait_timeout = ${String(silentSeconds)}`,
    `set ${assigned.join(', ')}`,
  ];
};

/**
 * Sets the session variables of a new connection and verifies them, in one packet.
 * @throws the server's error, or one with code `SESSION_REFUSED` that names the variables it did not accept
 */
export const prepareSession = async (
  connection: GuardedConnection,
  lockSeconds: LockSeconds,
): Promise<void> => {
  const expected = wanted(lockSeconds);
  const names = expected.flatMap(([either]) => either.split('|'));
  const settings = statements(lockSeconds).map((sql) => ({ sql, parameters: [] }));
  const look = {
    sql: `show session variables where variable_name in (${names.map(() => '?').join()})`,
    parameters: names,
  };
  let rows: unknown;
  try {
    rows = await connection.send([...settings, look], Infinity);
  } catch (error) {
    throw failureOf(error) === 'unavailable' ? error : sessionRefused((error as Error).message);
  }
  const fault = faultOf(rows as RowDataPacket[], expected);
  if (fault) throw fault;
};

const sessionRefused = (why: string): Error =>
  coded('SESSION_REFUSED', `the server does not let this user set its session: ${why}`);

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

/** Servers return the words of `sql_mode` in any order. */
const inOneOrder = (value: string): string => value.split(',').sort().join();
