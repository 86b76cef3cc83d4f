/** What went wrong, in words that both databases share. */
export type Failure =
  'unavailable' | 'duplicate' | 'missing_parent' | 'conflict' | 'lock_timeout' | 'other';

export const failureOf = (error: unknown): Failure => {
  const { code, fatal } = (error ?? {}) as { readonly code?: unknown; readonly fatal?: unknown };
  // mysql2 has no code for "the connection is closed already".
  if (typeof code !== 'string') return fatal === true ? 'unavailable' : 'other';
  if (code in failures) return failures[code] ?? 'other';
  return unavailableCode.test(code) ? 'unavailable' : 'other';
};

const failures: Readonly<Record<string, Failure>> = {
  SQLITE_CONSTRAINT_UNIQUE: 'duplicate',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'duplicate',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'missing_parent',
  ER_DUP_ENTRY: 'duplicate',
  ER_NO_REFERENCED_ROW: 'missing_parent',
  ER_NO_REFERENCED_ROW_2: 'missing_parent',
  ER_LOCK_DEADLOCK: 'conflict',
  ER_LOCK_WAIT_TIMEOUT: 'lock_timeout',
};

const unavailableCode = new RegExp(
  '^(SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY)|PROTOCOL_|POOL_|ECONN|ETIMEDOUT|EPIPE|EHOSTUNREACH|' +
    'ENETUNREACH|ENOTFOUND|EAI_AGAIN|ER_CON_COUNT|ER_TOO_MANY_USER_CONNECTIONS|ER_SERVER_SHUTDOWN|' +
    'ER_CONNECTION_KILLED|ER_QUERY_INTERRUPTED|ER_ACCESS_DENIED|ER_BAD_DB|ER_OPTION_PREVENTS_STATEMENT|' +
    'ER_NORMAL_SHUTDOWN|ER_DISK_FULL|ER_RECORD_FILE_FULL)',
);
