import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import { deployStates } from '../../../sites/domain/site.ts';
import { type CopyFacts, type InspectedCopy, migrationTable, type OnCopied } from './copy-facts.ts';
import { claimMysql, dropTables, factsIn, schemaOf, tablesIn } from './mysql-claim.ts';

/** MariaDB's program, then MySQL's. */
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

class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
}

interface Call {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Passes the password in the environment, which other users cannot read. */
const callFor = (url: string): Call => {
  const { hostname, port, username, password, searchParams } = new URL(url);
  const socket = searchParams.get('socketPath');
  const where =
    socket === null
      ? ['--protocol=TCP', `--host=${hostname.replace(/^\[|\]$/g, '')}`, `--port=${port || '3306'}`]
      : [`--socket=${socket}`];
  return {
    args: [
      // Must come first: ignores option files.
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

/** Encrypts connections as the service does. Each program skips unknown `loose` options. */
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

const startProgram = (program: string, { args, env }: Call) => {
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (said = (said + text).slice(-2_000)));
  const ended = endOf(child);
  return {
    child,
    /** @throws ProgramFailed with the program's output */
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
const row = /\((?:'(?:[^'\\]|\\.)*'|[^'()])*\)/gs;
const value = /'(?:[^'\\]|\\.)*'|[^',()]+/gs;
const migration = /\('([^'\\]+)','/g;

/** Reads the facts while the dump is written. Dumps escape line ends within values. */
export class DumpFacts {
  readonly #rows: Record<string, number> = {};
  readonly #columns: Record<string, string[]> = {};
  readonly #deploys: string[] = [];
  readonly #migrations: string[] = [];
  #statesOfDeploys = 0;
  #created = '';
  #table: string | undefined;
  #unread: string[] = [];
  #isWhole = false;

  read(chunk: Uint8Array): void {
    // One character per byte, because we look for ASCII only.
    const [first = '', ...rest] = Buffer.from(chunk).toString('latin1').split('\n');
    this.#unread.push(first);
    for (const begun of rest) {
      this.#line(this.#unread.join(''));
      this.#unread = [begun];
    }
  }

  /** @throws Error when the dump is incomplete or has an unexpected form */
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
    if (created !== undefined) {
      this.#created = created;
      this.#rows[created] = 0;
    }
    const [, column] = /^ +`(\w+)` /.exec(line) ?? [];
    if (column !== undefined) (this.#columns[this.#created] ??= []).push(column);
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
    for (const [values] of rows.matchAll(row)) this.#readDeploy(values.match(value) ?? []);
  }

  #readDeploy(values: readonly string[]): void {
    const columns = this.#columns['deploys'] ?? [];
    const valueOf = (column: string) => values[columns.indexOf(column)]?.slice(1, -1) ?? '';
    const state = deployStates.find((one) => one === valueOf('state'));
    if (state === undefined) return;
    this.#statesOfDeploys += 1;
    if (state === 'succeeded') this.#deploys.push(valueOf('id'));
  }
}

const dumping = [
  '--single-transaction',
  '--quick',
  '--skip-lock-tables',
  // The service's user may not be allowed to lock tables.
  '--skip-add-locks',
  '--skip-triggers',
  '--hex-blob',
  '--no-tablespaces',
  '--skip-dump-date',
  // Without these, MySQL's program would query what MariaDB lacks, and write what only one kind of server loads.
  '--loose-column-statistics=0',
  '--loose-set-gtid-purged=OFF',
];

/** Makes the client refuse commands in a dump. */
const loading = [
  '--binary-mode',
  '--loose-sandbox',
  '--loose-system-command=OFF',
  '--local-infile=0',
];

/**
 * @returns undefined if migrations ran meanwhile, because the program dumps only the tables from its start
 * @throws Error with the program's output
 */
export const dumpMysql = async (
  url: string,
  to: string,
  onCopied: OnCopied,
): Promise<CopyFacts | undefined> => {
  const before = await schemaOf(url);
  const facts = await dumpTables(url, before.tables, { to, onCopied });
  return isDeepStrictEqual(before, await schemaOf(url)) ? facts : undefined;
};

const dumpTables = async (
  url: string,
  tables: readonly string[],
  { to, onCopied }: { readonly to: string; readonly onCopied: OnCopied },
): Promise<CopyFacts> => {
  const program = programFor('dump');
  const { args, env } = callFor(url);
  // The migration table comes last: without it, no service starts on an unfinished restore.
  const ordered = [...tables.filter((one) => one !== migrationTable), migrationTable];
  const all = [...args, ...dumping, databaseName(url), ...ordered];
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

/** Loads a dump. It may be repeated after a failure. */
export const loadMysql = async (from: string, url: string): Promise<void> => {
  const program = programFor('client');
  const { args, env } = callFor(url);
  const all = [...args, ...loading, databaseName(url)];
  const { child, succeeded } = startProgram(program, { args: all, env });
  child.stdout.resume();
  const loaded = pipeline(createReadStream(from), createGunzip(), withoutSandboxLine, child.stdin);
  // The program's error explains more than the broken pipe.
  for (const one of await Promise.allSettled([succeeded(), loaded])) {
    if (one.status === 'rejected') throw one.reason;
  }
};

/** Loads a dump into an empty database and empties it again. @throws Error when that database is in use */
export const tryDump = (from: string, url: string): Promise<InspectedCopy> =>
  claimMysql(url, 'restore', async ({ session, empty }) => {
    await empty();
    try {
      await loadMysql(from, url);
      return { facts: await factsIn(session), damage: [] };
    } catch (error) {
      if (!(error instanceof ProgramFailed)) throw error;
      return { facts: undefined, damage: [`it cannot be loaded: ${error.message}`] };
    } finally {
      await dropTables(session, await tablesIn(session));
    }
  });

/** Removes the first line of newer dumps, which older clients refuse. Our own option does the same. */
async function* withoutSandboxLine(chunks: AsyncIterable<Buffer>) {
  let isFirst = true;
  for await (const chunk of chunks) {
    const end = chunk.indexOf('\n');
    const isCommand = isFirst && chunk.subarray(0, end).includes('999999\\-');
    yield isCommand ? chunk.subarray(end) : chunk;
    isFirst = false;
  }
}
