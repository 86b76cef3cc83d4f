import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { edgeClient, type EdgeClient } from '../http/edge-client.ts';
import type { DatabaseKind, TestDatabase } from '../servers/databases.ts';
import { findFreePort } from '../servers/debian-server.ts';
import { newHome, type Home, type Settings } from '../service/service-process.ts';
import { secretKey, type Checked } from './store-home.ts';

/** Of the site that a machine serves: of its project `Birds`. */
export const host = 'birds.sites.animal-store.test';

export interface Machine {
  readonly home: Home;
  readonly settings: Settings;
  visitor(): Promise<EdgeClient>;
}

export const newMachine = async (
  storage: DatabaseKind | TestDatabase,
  tools: Settings,
): Promise<Machine> => {
  const home = await newHome(storage);
  const [http, https] = [await findFreePort(), await findFreePort()];
  const settings = {
    ...tools,
    SECRET_KEY: secretKey,
    EDGE_HTTP_PORT: String(http),
    EDGE_HTTPS_PORT: String(https),
  };
  const root = join(home.settings['DATA_DIR'] ?? '', 'local-ca.pem');
  const visitor = async () => edgeClient({ http, https }, await readFile(root, 'utf8'));
  return { home, settings, visitor };
};

/** The page, and the certificate that it came with. */
export const visited = async (machine: Machine) => {
  const client = await machine.visitor();
  const { status, body } = await client.get(host, '/');
  const socket = await client.connect(host);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return { status, body: String(body), fingerprint256 };
};

/** Runs a command. @returns what it prints for machines */
export const told = async <T>(
  { home, settings }: Machine,
  args: readonly string[],
  more: Settings = {},
) => {
  const { code, stdout, stderr } = await home.run([...args, '--json'], { ...settings, ...more });
  return { code, stderr, printed: JSON.parse(stdout || 'null') as T };
};

export const check = (machine: Machine, folder: string, options: readonly string[] = []) =>
  told<Checked>(machine, ['backup', 'check', folder, ...options]);
