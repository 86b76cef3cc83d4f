import { mkdir, writeFile, readFile, symlink } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from 'inversify';
import pino from 'pino';
import { findServer, libraryEnvironment } from '../test/support/servers/debian-server.ts';
import { freePort, serverCore, startPinned, type PinnedProgram } from './programs.ts';
import { Database } from '../src/adapters/kysely/database.ts';
import { storeCertificate } from '../src/adapters/kysely/sites/kysely-certificates.ts';
import { loadConfig } from '../src/app/settings/config.ts';
import { openContainer } from '../src/app/container.ts';
import { AccessKey } from '../src/app/keys.ts';
import { Ids, Sealer } from '../src/kernel/ports.ts';
import type { Certificate } from '../src/domains/domain/certificates/renewal.ts';
import { createProject } from '../src/sites/domain/project.ts';
import { deploySucceeded, startDeploy } from '../src/sites/domain/site.ts';
import { Projects, SiteFiles } from '../src/sites/ports.ts';
import { CertificateAuthority } from '../src/domains/certificate-ports.ts';

const atOnce = 500;
const now = new Date();

interface SeededSites {
  /** PEM of the root that signed the sites' certificates. */
  readonly root: string;
  /** A second certificate for the first host. */
  readonly certificate: Certificate;
}

export const hostPattern = 'site-%.sites.test';
const platformHost = 'sites.test';
export const hostNumber = (number: number): string => hostPattern.replace('%', String(number));

/** Publishes sites that have certificates and all contain the same files. */
export const seedSites = async (
  environment: Readonly<Record<string, string>>,
  count: number,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<SeededSites> => {
  const config = loadConfig({ ...environment, PLATFORM_HOST: platformHost });
  const container = await openContainer(config, pino({ level: 'silent' }));
  try {
    const { account } = await container.get(AccessKey).createAccount({
      name: 'Bench',
      email: 'bench@animal-store.test',
      plan: 'free',
    });
    const model = container.get(Ids).next('dep');
    await storeFiles(container, model, files);
    const bytes = Object.values(files).reduce((sum, content) => sum + content.length, 0);
    const contents = { files: Object.keys(files).length, bytes };
    for (let first = 0; first < count; first += atOnce) {
      const numbers = Array.from({ length: Math.min(atOnce, count - first) }, (_, n) => first + n);
      const deployIds = await publish(container, account.id, numbers, contents);
      // All deploys link to one folder, because compressing a folder for each would take minutes.
      for (const id of deployIds) await symlink(model, join(config.dataDir, 'deploys', id));
    }
    const certificate = await issue(container.get(CertificateAuthority), hostNumber(0));
    return { root: await readFile(join(config.dataDir, 'local-ca.pem'), 'utf8'), certificate };
  } finally {
    await container.unbindAllAsync();
  }
};

/** The local authority needs no proof, so the certificate is ready at the first check. */
const issue = async (authority: CertificateAuthority, host: string): Promise<Certificate> => {
  const privateKey = await authority.newPrivateKey();
  const order = await authority.order(host);
  if (order.kind !== 'ordered') throw new Error(JSON.stringify(order));
  const state = await authority.look({ host, url: order.url, privateKey, method: 'http-01' });
  if (state.kind !== 'issued') throw new Error(`no certificate for ${host}: ${state.kind}`);
  return state.certificate;
};

const storeFiles = async (
  container: Container,
  deployId: string,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<void> => {
  const draft = await container.get(SiteFiles).begin(deployId);
  for (const [path, content] of Object.entries(files)) await draft.write(path, once(content));
  await draft.commit(() => undefined);
};

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield content;
}

/** @returns the deploys' ids; their files do not exist yet */
const publish = async (
  container: Container,
  accountId: string,
  numbers: readonly number[],
  contents: { readonly files: number; readonly bytes: number },
): Promise<readonly string[]> => {
  const [ids, projects] = [container.get(Ids), container.get(Projects)];
  const [database, sealer] = [container.get(Database), container.get(Sealer)];
  // All hosts share one certificate: these visitors do not verify it, and issuing takes a millisecond each.
  const certificate = await issue(container.get(CertificateAuthority), hostNumber(0));
  const deployIds = numbers.map(() => ids.next('dep'));
  await container.get(Database).transaction(async () => {
    for (const [at, number] of numbers.entries()) {
      const slug = `site-${String(number)}`;
      const project = createProject({ id: ids.next('proj'), accountId, name: slug, slug }, now);
      await projects.add(accountId, () => ({ ...project, events: [] }));
      await projects.change({ accountId, slug }, (site) => {
        const deployId = deployIds[at] ?? '';
        const started = startDeploy(
          site,
          { id: deployId, madeBy: 'operator', message: undefined },
          now,
        ).state;
        return { ...deploySucceeded(started, deployId, contents, now), events: [] };
      });
    }
    for (const n of numbers) {
      const one = { ...certificate, host: hostNumber(n) };
      await database.transaction((db) => storeCertificate(db, sealer, one));
    }
  });
  return deployIds;
};

export interface WebServer {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

const host = hostNumber(0);

/** Writes the files that the other servers serve: page, note, certificate and key. */
export const writeSite = async (
  folder: string,
  files: Readonly<Record<string, Uint8Array>>,
  { certificate }: SeededSites,
): Promise<void> => {
  await mkdir(join(folder, 'www'), { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    await writeFile(join(folder, 'www', path), content);
  }
  await writeFile(join(folder, 'chain.pem'), certificate.chain);
  await writeFile(join(folder, 'key.pem'), certificate.privateKey, { mode: 0o600 });
};

/**
 * Starts nginx with its best settings: it keeps files open, sends them with `sendfile`, and like the edge logs no
 * requests and sends no session tickets. It sends only its own six headers, which favours it.
 */
export const startNginx = async (folder: string, root: string): Promise<WebServer> => {
  const nginx = await findServer('nginx', ['nginx']);
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${name};`,
  );
  // As root, nginx would serve as `nobody`, who may not read this folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const config = `
    ${user} daemon off; worker_processes 1; pid nginx.pid; error_log error.log;
    events { worker_connections 4096; }
    http {
      ${temporary.join(' ')}
      access_log off; default_type text/html; keepalive_requests 1000000000;
      sendfile on; tcp_nopush on; open_file_cache max=1000; open_file_cache_valid 60s;
      server {
        listen 127.0.0.1:${String(port)} ssl; server_name ${host}; root www;
        ssl_certificate chain.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.3;
        ssl_session_cache off; ssl_session_tickets off; ssl_ecdh_curve X25519;
      }
    }`;
  await writeFile(join(folder, 'nginx.conf'), config);
  const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'];
  const program = startPinned(
    serverCore,
    [nginx.executable, ...args],
    libraryEnvironment(nginx.root),
  );
  return answering({ name: 'nginx', port, program }, root);
};

/** Starts Caddy with one thread for its code. Like the others, it logs no requests and sends no session tickets. */
export const startCaddy = async (folder: string, root: string): Promise<WebServer> => {
  const caddy = await findServer('caddy', ['caddy']);
  const port = await freePort();
  const site = {
    listen: [`127.0.0.1:${String(port)}`],
    routes: [
      {
        match: [{ host: [host] }],
        handle: [{ handler: 'file_server', root: join(folder, 'www') }],
      },
    ],
    tls_connection_policies: [{ protocol_min: 'tls1.3' }],
    automatic_https: { disable: true },
  };
  const files = [{ certificate: join(folder, 'chain.pem'), key: join(folder, 'key.pem') }];
  const tls = { certificates: { load_files: files }, session_tickets: { disabled: true } };
  const config = { admin: { disabled: true }, apps: { http: { servers: { site } }, tls } };
  const file = join(folder, 'caddy.json');
  await writeFile(file, JSON.stringify(config));
  const environment = {
    ...libraryEnvironment(caddy.root),
    GOMAXPROCS: '1',
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
  };
  const args = ['run', '--config', file];
  const program = startPinned(serverCore, [caddy.executable, ...args], environment);
  return answering({ name: 'Caddy', port, program }, root);
};

export const startBareHttps = async (folder: string, root: string): Promise<WebServer> => {
  const port = await freePort();
  const args = ['--max-semi-space-size=16', 'bench/bare-https-server.ts', folder, String(port)];
  const program = startPinned(serverCore, [process.execPath, ...args]);
  return answering({ name: 'bare node:https', port, program }, root);
};

/** @param settings database and data folder */
export const startEdge = async (
  name: string,
  settings: Readonly<Record<string, string>>,
  root: string,
  core = serverCore,
): Promise<WebServer> => {
  const port = await freePort();
  const program = startPinned(core, ['./animal-store', 'serve'], {
    ...settings,
    ROLES: 'edge',
    PORT: String(await freePort()),
    EDGE_HTTP_PORT: String(await freePort()),
    EDGE_HTTPS_PORT: String(port),
    PLATFORM_HOST: platformHost,
  });
  return answering({ name, port, program }, root);
};

/** @throws Error with the server's output when it has not answered within ten seconds */
const answering = async (
  { name, port, program }: Pick<WebServer, 'name' | 'port'> & { readonly program: PinnedProgram },
  root: string,
): Promise<WebServer> => {
  let last: unknown;
  for (let tries = 0; tries < 200; tries++) {
    last = await statusOf(port, root).catch((error: unknown) => error);
    if (last === 200) return { name, port, pid: program.pid };
    await delay(50);
  }
  const problem = `${name} does not answer on port ${String(port)}: ${String(last)}`;
  throw new Error(`${problem}\n${program.stderr()}`);
};

const statusOf = (port: number, ca: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { Host: `${host}:${String(port)}` };
    request({ host: '127.0.0.1', port, servername: host, ca, headers, agent: false })
      .on('response', (response) => {
        response.resume().once('end', () => {
          resolve(response.statusCode);
        });
      })
      .once('error', reject)
      .end();
  });
