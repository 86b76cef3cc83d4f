import 'reflect-metadata';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort, findServer, startGuard } from '../../support/servers/debian-server.ts';
import { neverMs, within } from '../../support/until.ts';
import { Agent, request } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { KeyObject, randomUUID, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { lastingFolder } from '../../support/service/lasting-folder.ts';

export interface PebbleOptions {
  /** Its resolver, as `ip:port`. */
  readonly dns: string;
  /** The port where it validates challenges, instead of port 80. */
  readonly httpPort: number;
  readonly certificateSeconds?: number;
  /** Keys for external account binding by id. An account requires one of them. */
  readonly externalAccounts?: Readonly<Record<string, string>>;
  /** Domains that it refuses. */
  readonly blocked?: readonly string[];
  /** The percentage of valid nonces that it refuses. */
  readonly badNoncePercent?: number;
  /** The percentage of validated hosts that need no new challenge. */
  readonly reusePercent?: number;
}

/** Let's Encrypt's authority for tests. It keeps everything in memory, so a restart empties it. */
export interface Pebble {
  readonly port: number;
  readonly tls: TlsPair;
  /** PEM of the root, which differs after each start. */
  root(): Promise<string>;
  /** Waits until the challenge is validated, at most as long as a validation usually takes. */
  judged(challengeId: string): Promise<void>;
  /** Restarts at the same port without its accounts. */
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

export interface Exchange {
  readonly port: number;
  readonly ca: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: IncomingHttpHeaders;
  readonly body?: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const agent = new Agent({ keepAlive: true });

/** Sends one request to an HTTPS server on 127.0.0.1, over an open connection if there is one. */
export const exchange = ({ port, ca, body, ...rest }: Exchange): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, ca, agent, ...rest }, (answer) => {
      const { statusCode = 0, headers } = answer;
      buffer(answer).then((all) => resolve({ status: statusCode, headers, body: all }), reject);
    })
      .on('error', reject)
      .end(body);
  });

/** PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** Shared by all authorities of this process, with a certificate file: see `lastingFolder`. */
let ofAuthorities: Promise<TlsPair & { readonly file: string }> | undefined;
export const authoritiesTls = () => (ofAuthorities ??= newAuthoritiesTls());

const newAuthoritiesTls = async () => {
  const pair = await loopbackTls();
  const file = join(lastingFolder(), 'authorities.pem');
  await writeFile(file, pair.cert);
  return { ...pair, file };
};

/** For a server on loopback. The certificate is its own root. */
export const loopbackTls = (): Promise<TlsPair> => tlsFor('localhost');

/** The certificate is its own root. For localhost, it is also valid for 127.0.0.1. */
export const tlsFor = async (host: string): Promise<TlsPair> => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    // Each root has a different name, so that a client can trust several.
    name: `CN=${host}, OU=${randomUUID()}`,
    keys,
    signingAlgorithm: algorithm,
    // Also valid for a client whose clock is months ahead.
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    extensions: [
      new BasicConstraintsExtension(true),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: host },
        ...(host === 'localhost' ? [{ type: 'ip', value: '127.0.0.1' } as const] : []),
      ]),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { cert: certificate.toString('pem'), key: String(key) };
};
