import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import {
  migrationTable,
  type CopyFacts,
  type DatabasePlace,
  type InspectedCopy,
  type OnCopied,
} from './copy-facts.ts';
import { DumpFacts } from './dump-facts.ts';
import { claimMysql, dropTables, factsIn, schemaOf, tablesIn } from './mysql-claim.ts';
import {
  callFor,
  databaseName,
  ProgramFailed,
  programFor,
  startProgram,
} from './mysql-programs.ts';

const dumping = [
  '--single-transaction',
  '--quick',
  '--skip-lock-tables',
  // The service has no right to lock tables, and loads what was dumped.
  '--skip-add-locks',
  '--skip-triggers',
  '--hex-blob',
  '--no-tablespaces',
  '--skip-dump-date',
  // MySQL's program would otherwise ask for what MariaDB does not have, and write what only one server may load.
  '--loose-column-statistics=0',
  '--loose-set-gtid-purged=OFF',
];

/** What the client would do on this machine at the word of a dump, it refuses; each knows one or the other (`loose`). */
const loading = [
  // Turns off commands of the client, such as those that run programs or write files.
  '--binary-mode',
  '--loose-sandbox',
  '--loose-system-command=OFF',
  '--local-infile=0',
];

/**
 * A compressed dump by the server's own program.
 * @returns undefined when migrations ran meanwhile: the program dumps the tables that were there before it began
 * @throws Error with what that program says
 */
export const dumpMysql = async (
  place: DatabasePlace,
  to: string,
  onCopied: OnCopied,
): Promise<CopyFacts | undefined> => {
  const before = await schemaOf(place.databaseUrl);
  const facts = await dumpTables(place, before.tables, { to, onCopied });
  return isDeepStrictEqual(before, await schemaOf(place.databaseUrl)) ? facts : undefined;
};

interface Target {
  readonly to: string;
  readonly onCopied: OnCopied;
}

const dumpTables = async (
  { databaseUrl, mysqlToolsDir }: DatabasePlace,
  tables: readonly string[],
  { to, onCopied }: Target,
): Promise<CopyFacts> => {
  const program = programFor('dump', mysqlToolsDir);
  const { args, env } = callFor(databaseUrl);
  // Last, so that an unfinished restore has no schema that the service would start on.
  const ordered = [...tables.filter((one) => one !== migrationTable), migrationTable];
  const all = [...args, ...dumping, databaseName(databaseUrl), ...ordered];
  const { child, succeeded } = startProgram(program, { args: all, env });
  child.stdin.end();
  const facts = new DumpFacts();
  const target = createWriteStream(to, { mode: 0o600, flags: 'wx' });
  const written = pipeline(
    child.stdout,
    (chunks: AsyncIterable<Buffer>) => watched(chunks, facts, onCopied),
    createGzip(),
    target,
  );
  await Promise.all([written, succeeded()]);
  return facts.facts();
};

async function* watched(chunks: AsyncIterable<Buffer>, facts: DumpFacts, onCopied: OnCopied) {
  let bytes = 0;
  for await (const chunk of chunks) {
    facts.read(chunk);
    bytes += chunk.length;
    onCopied(bytes, undefined);
    yield chunk;
  }
}

/** Loads a dump into a database that `claimMysql` holds; repeated after a failure, it starts over. */
export const loadMysql = async (
  from: string,
  { databaseUrl, mysqlToolsDir }: DatabasePlace,
): Promise<void> => {
  const program = programFor('client', mysqlToolsDir);
  const { args, env } = callFor(databaseUrl);
  const all = [...args, ...loading, databaseName(databaseUrl)];
  const { child, succeeded } = startProgram(program, { args: all, env });
  child.stdout.resume();
  const loaded = pipeline(createReadStream(from), createGunzip(), withoutSandboxLine, child.stdin);
  // If the program ends, it says why; that it no longer listens says nothing.
  for (const one of await Promise.allSettled([succeeded(), loaded])) {
    if (one.status === 'rejected') throw one.reason;
  }
};

/** Loads a dump into an empty database, looks at what it has then, and empties it again. @throws Error when that is in use */
export const tryDump = (from: string, place: DatabasePlace): Promise<InspectedCopy> =>
  claimMysql(place.databaseUrl, 'restore', async ({ session, empty }) => {
    await empty();
    try {
      await loadMysql(from, place);
      return { facts: await factsIn(session), damage: [] };
    } catch (error) {
      if (!(error instanceof ProgramFailed)) throw error;
      return { facts: undefined, damage: [`it cannot be loaded: ${error.message}`] };
    } finally {
      await dropTables(session, await tablesIn(session));
    }
  });

/** The first line of newer dumps is a command that older clients refuse; the option says the same. */
async function* withoutSandboxLine(chunks: AsyncIterable<Buffer>) {
  let isFirst = true;
  for await (const chunk of chunks) {
    const end = chunk.indexOf('\n');
    const isCommand = isFirst && chunk.subarray(0, end).includes('999999\\-');
    yield isCommand ? chunk.subarray(end) : chunk;
    isFirst = false;
  }
}
