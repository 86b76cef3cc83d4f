import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** By the names of MariaDB, then those of MySQL. */
const names = {
  dump: ['mariadb-dump', 'mysqldump'],
  client: ['mariadb', 'mysql'],
} as const;
type Program = keyof typeof names;

/** @param folder where to look first @throws Error that says what to install */
export const programFor = (program: Program, folder: string | undefined): string => {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((one) => one !== '');
  const folders = folder === undefined ? path : [folder, ...path];
  const found = names[program]
    .flatMap((name) => folders.map((one) => join(one, name)))
    .find((one) => existsSync(one));
  if (found !== undefined) return found;
  throw new Error(
    `${names[program].join(' or ')} is not installed. Install the client programs of your MySQL or MariaDB server, ` +
      'or set MYSQL_TOOLS_DIR to their folder.',
  );
};

/** A program did not do its work, and says why. */
export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
}

interface Call {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** How the server's own programs reach a database. The password is in the environment, which others cannot read. */
export const callFor = (url: string): Call => {
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

export const databaseName = (url: string): string =>
  decodeURIComponent(new URL(url).pathname.slice(1));

/** Starts a program whose exit code tells whether it worked. */
export const startProgram = (program: string, { args, env }: Call) => {
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
