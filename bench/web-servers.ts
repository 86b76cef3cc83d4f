import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findServer, libraryEnvironment } from '../test/support/servers/debian-server.ts';
import { freePort, serverCore, startPinned, type PinnedProgram } from './processes.ts';
import { hostNumber, platformHost, type SeededSites } from './sites.ts';

export interface WebServer {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

const host = hostNumber(0);

/** Puts what all but the edge serve into a folder: page, note, certificate and key. */
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

export const startNginx = async (folder: string, root: string): Promise<WebServer> => {
  const nginx = await findServer('nginx', ['nginx']);
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${name};`,
  );
  // As root it would serve as nobody, who may not read this folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const config = `
    ${user} daemon off; worker_processes 1; pid nginx.pid; error_log error.log;
    events { worker_connections 4096; }
    http {
      ${temporary.join(' ')}
      access_log off; default_type text/html; keepalive_requests 1000000000;
      server {
        listen 127.0.0.1:${String(port)} ssl; server_name ${host}; root www;
        ssl_certificate chain.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.3;
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

export const startCaddy = async (folder: string, root: string): Promise<WebServer> => {
  const caddy = await findServer('caddy', ['caddy']);
  const port = await freePort();
  const config = `
{
  admin off
  auto_https off
}
https://${host}:${String(port)} {
  bind 127.0.0.1
  tls ${join(folder, 'chain.pem')} ${join(folder, 'key.pem')} {
    protocols tls1.3
  }
  root * ${join(folder, 'www')}
  file_server
}
`;
  const file = join(folder, 'Caddyfile');
  await writeFile(file, config);
  const environment = {
    ...libraryEnvironment(caddy.root),
    GOMAXPROCS: '1',
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
  };
  const args = ['run', '--config', file, '--adapter', 'caddyfile'];
  const program = startPinned(serverCore, [caddy.executable, ...args], environment);
  return answering({ name: 'Caddy', port, program }, root);
};

export const startBareHttps = async (folder: string, root: string): Promise<WebServer> => {
  const port = await freePort();
  const args = ['bench/bare-https-server.ts', folder, String(port)];
  const program = startPinned(serverCore, [process.execPath, ...args]);
  return answering({ name: 'bare node:https', port, program }, root);
};

/** @param settings its database and data folder */
export const startEdge = async (
  name: string,
  settings: Readonly<Record<string, string>>,
  root: string,
): Promise<WebServer> => {
  const port = await freePort();
  const program = startPinned(
    serverCore,
    [process.execPath, '--max-semi-space-size=16', 'src/main.ts', 'serve'],
    {
      ...settings,
      ROLES: 'edge',
      PORT: String(await freePort()),
      EDGE_HTTP_PORT: String(await freePort()),
      EDGE_HTTPS_PORT: String(port),
      PLATFORM_HOST: platformHost,
    },
  );
  return answering({ name, port, program }, root);
};

/** @throws Error with what it wrote when it has not answered within ten seconds */
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
