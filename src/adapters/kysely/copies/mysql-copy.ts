import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import {
  type CopyFacts,
  type DatabasePlace,
  type InspectedCopy,
  migrationTable,
  type OnCopied,
} from './copy-facts.ts';
import { claimMysql, dropTables, factsIn, schemaOf, tablesIn } from './mysql-claim.ts';

/** By the names of MariaDB, then those of MySQL. */
const names = {
  dump: ['mariadb-dump', 'mysqldump'],
  client: ['mariadb', 'mysql'],
} as const;
type Program = keyof typeof names;

/** @throws Error that says what to install */
export const programFor = (program: Program): string => {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((one) => one !== '');
  const found = names[program]
    .flatMap((name) => folders.map((one) => join(one, name)))
    .find((one) => existsSync(one));
  if (found !== undefined) return found;
  throw new Error(
    `${names[program].join(' or ')} is not installed. Install the client programs of your MySQL or MariaDB server.`,
  );
};

/** A program did not do its work, and says why. */
class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
}

interface Call {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** How the server's own programs reach a database. The password is in the environment, which others cannot read. */
const callFor = (url: string): Call => {
  const { hostname, port, username, password, searchParams } = new URL(url);
  const socket = searchParams.get('socketPath');
  const where =
    socket === null
      ? ['--protocol=TCP', `--host=${hostname.replace(/^\[|\]$/g, '')}`, `--port=${port || '3306'}`]
      : [`--socket=${socket}`];
  return {
    args: [
      // First: no file of this user changes what follows.
      '--no-defaults',
      ...where,
      `--user=${decodeURIComponent(username)}`,
      '--default-character-set=utf8mb4',
      '--max-allowed-packet=1G',
      ...encryption(searchParams.has('ssl')),
    ],
    env: { ...process.env, MYSQL_PWD: decodeURIComponent(password) },
  };
};

/** As the service connects. The programs of MariaDB and MySQL each skip what only the others know (`loose`). */
const encryption = (isWanted: boolean): readonly string[] => {
  if (!isWanted) return ['--loose-skip-ssl', '--loose-get-server-public-key'];
  const roots = process.env['NODE_EXTRA_CA_CERTS'] ?? '/etc/ssl/certs/ca-certificates.crt';
  return [
    `--ssl-ca=${roots}`,
    '--loose-ssl-verify-server-cert',
    '--loose-ssl-mode=VERIFY_IDENTITY',
  ];
};

const databaseName = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));

/** Starts a program whose exit code tells whether it worked. */
const startProgram = (program: string, { args, env }: Call) => {
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (said = (said + text).slice(-2_000)));
  const ended = endOf(child);
  return {
    child,
    /** @throws ProgramFailed with what it said */
    succeeded: async (): Promise<void> => {
      if ((await ended) === 0) return;
      throw new ProgramFailed(`${program} failed: ${said.trim() || 'it says nothing'}`);
    },
  };
};

const endOf = async (child: ChildProcess): Promise<number | null> => {
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
};

const text = /'(?:[^'\\]|\\.)*'/gs;
/** How each row of `deploys` begins: id, project, number, state. */
const deploy = /\('([\w-]+)','[\w-]+',\d+,'(\w+)'/g;
const migration = /\('([^'\\]+)','/g;

/**
 * Reads what a dump holds while it is written: the server tells nobody which state its program has seen. A dump has
 * line ends only between rows, because it escapes those in values.
 */
export class DumpFacts {
  readonly #rows: Record<string, number> = {};
  readonly #deploys: string[] = [];
  readonly #migrations: string[] = [];
  #statesOfDeploys = 0;
  /** The table that rows are inserted into. */
  #table: string | undefined;
  #unread: string[] = [];
  #isWhole = false;

  read(chunk: Uint8Array): void {
    // Each byte is one character: what is looked for is ASCII, which is part of no other character in UTF-8.
    const [first = '', ...rest] = Buffer.from(chunk).toString('latin1').split('\n');
    this.#unread.push(first);
    for (const begun of rest) {
      this.#line(this.#unread.join(''));
      this.#unread = [begun];
    }
  }

  /** @throws Error when the dump is not whole, or not as expected */
  facts(): CopyFacts {
    if (!this.#isWhole) throw new Error('the dump ends too early');
    if (this.#statesOfDeploys !== this.#rows['deploys']) {
      throw new Error('the rows of deploys in the dump cannot be read');
    }
    return {
      rows: this.#rows,
      migrations: this.#migrations.toSorted(),
      deploys: this.#deploys.toSorted(),
    };
  }

  #line(line: string): void {
    if (line.startsWith('-- Dump completed')) this.#isWhole = true;
    const [, created] = /^CREATE TABLE `(\w+)`/.exec(line) ?? [];
    if (created !== undefined) this.#rows[created] = 0;
    const [intro = '', filled] = /^INSERT INTO `(\w+)` VALUES/.exec(line) ?? [];
    this.#table = filled ?? this.#table;
    if (this.#table === undefined) return;
    this.#readRows(this.#table, line.slice(intro.length));
    if (line.endsWith(';')) this.#table = undefined;
  }

  #readRows(table: string, rows: string): void {
    const found = rows.replaceAll(text, '').split('(').length - 1;
    this.#rows[table] = (this.#rows[table] ?? 0) + found;
    if (table === migrationTable) {
      for (const [, name = ''] of rows.matchAll(migration)) this.#migrations.push(name);
    }
    if (table !== 'deploys') return;
    for (const [, id = '', state] of rows.matchAll(deploy)) {
      this.#statesOfDeploys += 1;
      if (state === 'succeeded') this.#deploys.push(id);
    }
  }
}

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
  { databaseUrl }: DatabasePlace,
  tables: readonly string[],
  { to, onCopied }: Target,
): Promise<CopyFacts> => {
  const program = programFor('dump');
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
export const loadMysql = async (from: string, { databaseUrl }: DatabasePlace): Promise<void> => {
  const program = programFor('client');
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
