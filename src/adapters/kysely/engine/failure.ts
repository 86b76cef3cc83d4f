import { Unavailable } from '../../../kernel/ports.ts';
import type { DatabaseKind } from './database-kind.ts';

export type Failure =
  /** Answered with 503, because a retry may help. */
  | 'unavailable'
  | 'busy'
  | 'duplicate'
  | 'missing_parent'
  /** Repeating the transaction can succeed. */
  | 'conflict'
  | 'lock_timeout'
  | 'other';

type Refusal = 'duplicate' | 'missing_parent' | 'conflict' | 'lock_timeout';

const refusals: Readonly<Record<DatabaseKind, Readonly<Record<Refusal, readonly string[]>>>> = {
  sqlite: {
    duplicate: ['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'],
    missing_parent: ['SQLITE_CONSTRAINT_FOREIGNKEY'],
    conflict: [],
    lock_timeout: [],
  },
  mysql: {
    duplicate: ['ER_DUP_ENTRY'],
    missing_parent: ['ER_NO_REFERENCED_ROW', 'ER_NO_REFERENCED_ROW_2'],
    conflict: [
      ...['ER_LOCK_DEADLOCK', 'ER_XA_RBDEADLOCK', 'ER_CHECKREAD'],
      'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
    ],
    lock_timeout: ['ER_LOCK_WAIT_TIMEOUT', 'ER_LOCK_NOWAIT'],
  },
};

const refused = (refusal: Refusal): readonly string[] =>
  Object.values(refusals).flatMap((codes) => codes[refusal]);

/** Numbers are MariaDB errors that have no name in mysql2. */
const codesOf: Readonly<
  Record<Exclude<Failure, 'other'>, Readonly<Record<string, readonly string[]>>>
> = {
  busy: {
    'no connection was free in time, or too many requests wait for one': ['POOL_BUSY', 'POOL_FULL'],
  },
  duplicate: { 'a unique index has this value already': refused('duplicate') },
  missing_parent: { 'a foreign key refers to no row': refused('missing_parent') },
  conflict: {
    'a deadlock, or a write that another member of a cluster made first': refused('conflict'),
  },
  lock_timeout: { 'a row stayed locked for too long': refused('lock_timeout') },
  unavailable: {
    'the file is locked by another program': ['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL'],
    'the disk is full, cannot be written or does not answer': [
      ...['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_CANTOPEN', 'SQLITE_READONLY', 'SQLITE_NOLFS'],
      ...['ER_DISK_FULL', 'ER_RECORD_FILE_FULL', 'ER_ERROR_ON_WRITE', 'ER_CANT_OPEN_FILE'],
      ...['ER_CANT_LOCK', 'ER_ERROR_ON_READ', 'ER_ERROR_ON_CLOSE', 'ER_CANT_CREATE_FILE'],
    ],
    'the server or this process is out of memory, threads, locks or files': [
      ...['SQLITE_NOMEM', 'ER_OUTOFMEMORY', 'ER_OUT_OF_RESOURCES', 'ER_OUT_OF_SORTMEMORY'],
      ...['ER_CANT_CREATE_THREAD', 'ER_LOCK_TABLE_FULL', 'ER_TOO_MANY_CONCURRENT_TRXS'],
      ...['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'],
    ],
    'a statement exceeded its time limit, or was killed': [
      ...['ER_QUERY_TIMEOUT', '1969', 'ER_QUERY_INTERRUPTED', 'SQLITE_INTERRUPT', 'SQLITE_ABORT'],
    ],
    'the server refuses commits': ['ER_ERROR_DURING_COMMIT', 'ER_RUN_HOOK_ERROR'],
    'the server, or the one that replaced it, is read-only': [
      ...['ER_OPTION_PREVENTS_STATEMENT', 'ER_READ_ONLY_MODE'],
      ...['ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION'],
    ],
    'a member of a cluster without a quorum': ['ER_UNKNOWN_COM_ERROR'],
    'a limit of the database user or of the server is reached': [
      ...['ER_USER_LIMIT_REACHED', 'ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS'],
    ],
    'the server refuses all logins, or ours': [
      ...[
        'ER_ACCESS_DENIED_ERROR',
        'ER_ACCESS_DENIED_NO_PASSWORD_ERROR',
        'ER_DBACCESS_DENIED_ERROR',
      ],
      ...['ER_BAD_DB_ERROR', 'ER_HOST_IS_BLOCKED', 'ER_HOST_NOT_PRIVILEGED', 'ER_BAD_HOST_ERROR'],
      ...['ER_ACCOUNT_HAS_BEEN_LOCKED', 'ER_MUST_CHANGE_PASSWORD', 'ER_MUST_CHANGE_PASSWORD_LOGIN'],
      ...['ER_SERVER_OFFLINE_MODE', 'ER_NOT_SUPPORTED_AUTH_MODE', 'AUTH_SWITCH_PLUGIN_ERROR'],
      ...['ER_SECURE_TRANSPORT_REQUIRED', 'HANDSHAKE_SSL_ERROR', 'HANDSHAKE_NO_SSL_SUPPORT'],
      ...['HANDSHAKE_UNKNOWN_ERROR', 'ER_HANDSHAKE_ERROR', 'SESSION_REFUSED'],
    ],
    'the server is shutting down, or closed the connection': [
      ...['ER_SERVER_SHUTDOWN', 'ER_NORMAL_SHUTDOWN', 'ER_SERVER_ISNT_AVAILABLE', '1927'],
      ...['ER_CONNECTION_KILLED', 'ER_CLIENT_INTERACTION_TIMEOUT', 'ER_FORCING_CLOSE'],
      ...['ER_ABORTING_CONNECTION', 'ER_NEW_ABORTING_CONNECTION'],
      ...['ER_NET_READ_ERROR', 'ER_NET_READ_INTERRUPTED', 'ER_NET_ERROR_ON_WRITE'],
      ...['ER_NET_WRITE_INTERRUPTED', 'ER_NET_PACKETS_OUT_OF_ORDER', 'ER_NET_FCNTL_ERROR'],
    ],
    'the network has no route to the server': [
      ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH'],
      ...[
        'EHOSTDOWN',
        'ENETUNREACH',
        'ENETDOWN',
        'ENETRESET',
        'ENOTFOUND',
        'EAI_AGAIN',
        'EAI_FAIL',
      ],
      ...['EADDRNOTAVAIL', 'ERR_SOCKET_CLOSED', 'ERR_STREAM_DESTROYED'],
    ],
    'the connection broke, or no new one opened in time': [
      ...['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT', 'PROTOCOL_ERROR'],
      ...['PROTOCOL_PACKETS_OUT_OF_ORDER', 'PROTOCOL_UNEXPECTED_PACKET'],
      ...['POOL_TIMEOUT', 'POOL_BROKEN'],
    ],
  },
};

export const failureCodes: ReadonlyMap<
  string,
  { readonly failure: Failure; readonly meaning: string }
> = new Map(
  Object.entries(codesOf).flatMap(([failure, meanings]) =>
    Object.entries(meanings).flatMap(([meaning, codes]) =>
      codes.map((code) => [code, { failure: failure as Failure, meaning }] as const),
    ),
  ),
);

/** `SQLITE_IOERR_FSYNC` counts as `SQLITE_IOERR`. */
const plainSqliteCode = /^SQLITE_(?!CONSTRAINT_)[A-Z]+/;

export const failureOf = (error: unknown): Failure => {
  const { code, errno, fatal } = (error ?? {}) as {
    readonly code?: unknown;
    readonly errno?: unknown;
    readonly fatal?: unknown;
  };
  const name = typeof code === 'string' ? code : String(errno);
  const known = failureCodes.get(name) ?? failureCodes.get(plainSqliteCode.exec(name)?.[0] ?? '');
  // mysql2 has no code for a connection that is already closed.
  return known?.failure ?? (fatal === true ? 'unavailable' : 'other');
};

export const refusedAs = async <T>(
  statement: Promise<T>,
  errors: Readonly<Partial<Record<Failure, () => Error>>>,
): Promise<T> => {
  try {
    return await statement;
  } catch (error) {
    throw errors[failureOf(error)]?.() ?? error;
  }
};

/** Many, because writers on several Galera members conflict repeatedly. */
const retries = { most: 12, firstPauseMs: 10, longestPauseMs: 250 };

const unreachable: readonly Failure[] = ['unavailable', 'busy', 'conflict', 'lock_timeout'];

export const translated = (error: unknown): unknown => {
  const failure = failureOf(error);
  return unreachable.includes(failure) ? new Unavailable('The database', error) : error;
};

const isConflict = (error: unknown): boolean =>
  error instanceof Unavailable && failureOf(error.cause) === 'conflict';

/** Randomises the pause, because equal pauses would conflict again. @returns undefined to give up */
export const pauseAfter = (tried: number, error: unknown): number | undefined => {
  const { most, firstPauseMs, longestPauseMs } = retries;
  if (!isConflict(error) || tried === most) return undefined;
  return Math.min(firstPauseMs * 2 ** tried, longestPauseMs) * (0.5 + Math.random() / 2);
};

export interface OutageListener {
  onAway(error: unknown): void;
  onBack(awayMs: number): void;
}

const quietMs = 5000;

export class Outage {
  readonly #listener: OutageListener | undefined;
  readonly #elapsed: () => number;
  #since: number | undefined;
  #lastFailureAt = 0;

  /** @param elapsed monotonic milliseconds */
  constructor(
    listener: OutageListener | undefined,
    elapsed: () => number = () => performance.now(),
  ) {
    this.#listener = listener;
    this.#elapsed = elapsed;
  }

  failed(error: unknown): void {
    this.#lastFailureAt = this.#elapsed();
    if (this.#since !== undefined) return;
    this.#since = this.#lastFailureAt;
    this.#listener?.onAway(error);
  }

  succeeded(): void {
    if (this.#since === undefined) return;
    const now = this.#elapsed();
    if (now - this.#lastFailureAt < quietMs) return;
    this.#listener?.onBack(now - this.#since);
    this.#since = undefined;
  }
}
