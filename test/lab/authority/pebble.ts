import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort, findServer, startGuard } from '../../support/servers/debian-server.ts';
import { neverMs, within } from '../../support/until.ts';
import { exchange } from './pebble-exchange.ts';
import { authoritiesTls, type TlsPair } from './pebble-tls.ts';

export interface PebbleOptions {
  /** Its resolver, as `ip:port`. */
  readonly dns: string;
  /** Where it looks for answers to challenges, instead of port 80. */
  readonly httpPort: number;
  readonly certificateSeconds?: number;
  /** Keys by their id; without one of them there is no account. */
  readonly externalAccounts?: Readonly<Record<string, string>>;
  /** Domains that it never issues for. */
  readonly blocked?: readonly string[];
  /** How many good nonces it refuses. */
  readonly badNoncePercent?: number;
  /** How often a host that was validated before needs no challenge. */
  readonly reusePercent?: number;
}

/** Let's Encrypt's authority for tests. It keeps nothing on disk: whatever ends it empties it. */
export interface Pebble {
  readonly port: number;
  /** Of its own web server. */
  readonly tls: TlsPair;
  /** PEM of the root of what it issues; another one after each start. */
  root(): Promise<string>;
  /** How many challenges it has visited to the end, with whatever result. */
  judgedChallenges(): Promise<number>;
  /** Waits until it has visited for that challenge, but never longer than a visitor usually takes. */
  judged(challengeId: string): Promise<void>;
  /** Comes back at the same port and remembers nobody. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const longestVisitMs = 1_000;

const ended = async (child: ChildProcess): Promise<void> => {
  child.ref();
  if (child.kill(0)) await once(child, 'exit');
};

export const startPebble = async (options: PebbleOptions): Promise<Pebble> => {
  const { executable } = await findServer('pebble', ['pebble']);
  const folder = await mkdtemp(join(tmpdir(), 'pebble-'));
  const log = join(folder, 'log');
  const guard = startGuard(folder);
  const tls = await authoritiesTls();
  const port = await findFreePort();
  const managementPort = await findFreePort();
  await writeFile(join(folder, 'cert.pem'), tls.cert);
  await writeFile(join(folder, 'key.pem'), tls.key);
  await writeFile(
    join(folder, 'config.json'),
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${port}`,
        managementListenAddress: `127.0.0.1:${managementPort}`,
        certificate: join(folder, 'cert.pem'),
        privateKey: join(folder, 'key.pem'),
        httpPort: options.httpPort,
        tlsPort: options.httpPort,
        externalAccountBindingRequired: options.externalAccounts !== undefined,
        externalAccountMACKeys: options.externalAccounts ?? {},
        domainBlocklist: options.blocked ?? [],
        certificateValidityPeriod: options.certificateSeconds ?? 90 * 86_400,
      },
    }),
  );

  const launch = (): ChildProcess => {
    const env = {
      ...process.env,
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: String(options.badNoncePercent ?? 0),
      PEBBLE_AUTHZREUSE: String(options.reusePercent ?? 0),
    };
    const output = openSync(log, 'a');
    const args = ['-config', join(folder, 'config.json'), '-dnsserver', options.dns];
    const child = spawn(executable, args, { env, stdio: ['ignore', output, output] });
    closeSync(output);
    child.unref();
    guard.write(`${child.pid ?? ''}\n`);
    return child;
  };

  const ask = async (at: number, path: string): Promise<string> => {
    const answer = await exchange({ port: at, ca: tls.cert, method: 'GET', path });
    return answer.body.toString();
  };

  const start = async (): Promise<ChildProcess> => {
    const child = launch();
    const deadline = Date.now() + neverMs;
    for (;;) {
      try {
        await Promise.all([ask(port, '/dir'), ask(managementPort, '/roots/0')]);
        return child;
      } catch (error) {
        if (!child.kill(0) || Date.now() > deadline) throw error;
        await delay(10);
      }
    }
  };

  const explain = async (cause: unknown): Promise<never> => {
    const tail = (await readFile(log, 'utf8').catch(() => '')).slice(-3_000);
    guard.end();
    throw new Error(`pebble did not start; its log ends:\n${tail}`, { cause });
  };

  let server = await start().catch(explain);
  const end = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended(server);
    guard.write('\n');
  };
  return {
    port,
    tls,
    root: () => ask(managementPort, '/roots/0'),
    judgedChallenges: async () =>
      (await readFile(log, 'utf8')).match(/set (?:IN)?VALID by completed challenge/g)?.length ?? 0,
    judged: async (id) => {
      const isJudged = async () =>
        (await readFile(log, 'utf8')).includes(`VALID by completed challenge ${id}`);
      await within(longestVisitMs, 'it is judged', isJudged).catch(() => undefined);
    },
    restart: async () => {
      await end();
      server = await start().catch(explain);
    },
    stop: async () => {
      await end();
      await rm(folder, { recursive: true, force: true });
      guard.end();
    },
  };
};
