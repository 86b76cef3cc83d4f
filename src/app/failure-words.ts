import { dirname } from 'node:path';
import { databaseFile } from '../adapters/kysely/engine/database-kind.ts';
import { failureOf } from '../adapters/kysely/engine/failure.ts';
import { DomainError } from '../kernel/decision.ts';
import { Unavailable } from '../kernel/ports.ts';
import { ConfigFault, placesIn } from './settings/config.ts';
import { commandName } from './version.ts';

interface Failure {
  readonly message: string;
  readonly stack?: string;
  readonly code?: unknown;
  readonly path?: unknown;
  readonly dest?: unknown;
  readonly cause?: unknown;
}

export const failureInWords = (
  error: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): string => {
  if (error instanceof DomainError) return `${error.message}${helpFor(String(error.code))}`;
  if (error instanceof ConfigFault) return error.message;
  if (!isFailure(error)) return String(error);
  if (environment['LOG_LEVEL'] === 'debug') return error.stack ?? error.message;
  if (isOwnSentence(error)) return error.message;
  const coded = codedCause(error);
  const { databaseUrl, dataDir } = placesIn(environment);
  if (coded && isOfFiles(coded, dataDir)) {
    const { seen, advice } = dataFolderProblem(dataDir, coded.code);
    return `${seen} ${advice}`;
  }
  if (isOfDatabase(error, coded) || (coded && isOfFiles(coded, folderOf(databaseUrl)))) {
    const { seen, advice } = databaseProblem(databaseUrl, error);
    return `${seen} ${advice}`;
  }
  const place = coded && pathIn(coded);
  if (place !== undefined && noAccess.test(coded?.code ?? '')) {
    return `${place} cannot be used (${String(coded?.code)}). Give this user access to it, or run the command as its owner.`;
  }
  const { message, cause } = error;
  return message.endsWith('.') || !isFailure(cause) ? message : `${message}: ${cause.message}`;
};

/** By error code, the command that lists what exists or creates what is missing. */
const helpful: Readonly<Record<string, string>> = {
  account_not_found: 'account list',
  api_key_not_found: 'key list --account ID',
  deploy_not_found: 'project deploys --project SLUG',
  domain_not_found: 'domain list --project SLUG',
  person_not_found: 'user list --account ID',
  project_not_found: 'project list --account ID',
  no_successful_deploy: 'deploy FOLDER --project SLUG',
};

const helpFor = (code: string): string => {
  const command = helpful[code];
  return command === undefined ? '' : ` Try: ${commandName()} ${command}`;
};

interface Problem {
  readonly seen: string;
  readonly advice: string;
}

export const dataFolderProblem = (dataDir: string, code: string): Problem => ({
  seen: `${dataDir} cannot be used (${code}).`,
  advice: isFull.test(code)
    ? 'Its disk is full. Free some space, or set DATA_DIR to a folder on another one.'
    : 'Set DATA_DIR to a folder that this user can write to.',
});

const isFull = /^(ENOSPC|EDQUOT|SQLITE_FULL)$/;

/** @param url shown without user and password @param given the setting's name */
export const databaseProblem = (url: string, error: unknown, given = 'DATABASE_URL'): Problem => {
  const known = codedCause(error)?.code ?? 'no answer';
  const [, problem = unreachable, advice = ''] =
    meanings.find(([pattern]) => pattern.test(known)) ?? [];
  return {
    seen: `The database ${databasePlace(url)} ${problem} (${known}).`,
    advice: advice.replace('DATABASE_URL', given),
  };
};

export const databasePlace = (url: string): string => {
  if (databaseFile(url) !== undefined) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
};

const unreachable = 'cannot be reached';
const unusable = 'cannot be used';
const meanings: readonly (readonly [RegExp, string, string])[] = [
  [/^(ENOTFOUND|EAI_\w+)$/, unreachable, 'Correct the host name in DATABASE_URL.'],
  [/^ER_BAD_DB_ERROR$/, 'does not exist', 'Create it, or correct its name in DATABASE_URL.'],
  [/^ER_(DB)?ACCESS_DENIED\w*$/, unusable, 'Correct user and password in DATABASE_URL.'],
  [/^SQLITE_NOTADB$/, 'is not an SQLite file', 'Set DATABASE_URL to another file.'],
  [/^SQLITE_(BUSY|LOCKED)\w*$/, unusable, 'Another program has locked it. End that, or try again.'],
  [isFull, unusable, 'Its disk is full. Free some space.'],
  [
    /^(SQLITE_|E(ACCES|PERM|ROFS|NOENT|NOTDIR|ISDIR|EXIST)$)/,
    unusable,
    'Set DATABASE_URL to a file in a folder that this user can write to.',
  ],
  [/^(ER|HANDSHAKE|AUTH|SESSION)_/, unusable, 'Look at the log of its server.'],
  [/./, unreachable, 'Start its server, or correct DATABASE_URL.'],
];

const isFailure = (error: unknown): error is Failure =>
  typeof error === 'object' && error !== null && 'message' in error;

const isOwnSentence = (error: Failure): boolean =>
  error.message.endsWith('.') && error.code === undefined && !(error instanceof Unavailable);

const causesOf = (error: unknown): readonly Failure[] =>
  isFailure(error) ? [error, ...causesOf(error.cause)] : [];

type Coded = Failure & { readonly code: string };

const codedCause = (error: unknown): Coded | undefined =>
  causesOf(error).find((one): one is Coded => typeof one.code === 'string');

const isOfDatabase = (error: Failure, found: Coded | undefined): boolean =>
  (error instanceof Unavailable && error.what === 'The database') ||
  found?.code === 'SQLITE_NOTADB' ||
  (found !== undefined && /^(SQLITE|ER)_/.test(found.code) && failureOf(found) === 'unavailable');

const folderOf = (databaseUrl: string): string => dirname(databaseUrl.replace(/^sqlite:/, ''));

const noAccess = /^E(ACCES|PERM|ROFS)$/;

/** For a copy this is the target, because the source was readable. */
const pathIn = ({ path, dest = path }: Failure): string | undefined =>
  typeof dest === 'string' ? dest : undefined;

const isOfFiles = (failure: Failure, folder: string): boolean => {
  const place = pathIn(failure);
  const isThere = place === folder || place?.startsWith(`${folder}/`) === true;
  return isThere && /^E(ACCES|PERM|ROFS|NOTDIR|EXIST|NOSPC|DQUOT|LOOP)$/.test(String(failure.code));
};
