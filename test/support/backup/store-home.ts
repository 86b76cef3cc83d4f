import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import {
  backupTimes,
  type BackupTimes,
} from '../../../src/adapters/kysely/copies/database-copies.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';
import type { Config } from '../../../src/app/settings/settings.ts';
import { openDatabase, type DatabaseKind, type TestDatabase } from '../servers/databases.ts';
import { startGuard, findFreePort } from '../servers/debian-server.ts';
import { newHome, type Home, type Settings } from '../service/service-process.ts';
import { plainTree } from '../sites/direct-unpacking.ts';
import { edgeClient, type EdgeClient } from '../http/edge-client.ts';

export const secretKey = '8fz3kq0v7m2xw9t4c6b1n5hj8rd0gy3s';

interface Checked {
  readonly ok: boolean;
  readonly checks: readonly { readonly state: string; readonly seen: string }[];
}

/** A store on SQLite with a project `birds`, and a folder for its backups. No service runs. */
export class StoreHome {
  readonly home: Home;
  readonly settings: Settings;
  readonly folder: string;
  readonly #guard: { end(): void };
  #sites = 0;

  private constructor(home: Home, folder: string, settings: Settings) {
    this.home = home;
    this.folder = folder;
    this.settings = { ...settings, SECRET_KEY: secretKey };
    this.#guard = startGuard(folder);
  }

  static async open(settings: Settings = {}): Promise<StoreHome> {
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-backups-'));
    const store = new StoreHome(await newHome('sqlite'), folder, settings);
    const person = ['--email', 'owner@zoo.example', '--plan', 'pro'];
    const { account } = await store.told<{ account: { id: string } }>([
      ...['account', 'create', '--name', 'Zoo', ...person],
    ]);
    await store.told(['project', 'create', '--account', account.id, '--name', 'Birds']);
    return store;
  }

  async publish(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
    this.#sites += 1;
    const place = await plainTree(join(this.folder, `site-${String(this.#sites)}`), files);
    const args = ['deploy', place, '--project', 'birds'];
    return (await this.told<{ deploy: { id: string } }>(args)).deploy.id;
  }

  get backups(): string {
    return join(this.folder, 'backups');
  }

  get dataDir(): string {
    return this.home.settings['DATA_DIR'] ?? '';
  }

  run(args: readonly string[], more: Settings = {}) {
    return this.home.run(args, { ...this.settings, ...more });
  }

  async told<T>(args: readonly string[], more: Settings = {}): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], more);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}${stdout}`);
    return JSON.parse(stdout) as T;
  }

  async check(more: Settings = {}): Promise<{ code: number | null; found: readonly string[] }> {
    const { code, stdout } = await this.run(['backup', 'check', this.backups, '--json'], more);
    const { checks } = JSON.parse(stdout) as Checked;
    const found = checks
      .filter(({ state }) => state !== 'ok')
      .map(({ state, seen }) => `${state}: ${seen}`);
    return { code, found };
  }

  async backupTimes(): Promise<BackupTimes> {
    const database = openDatabase(this.home.settings['DATABASE_URL'] ?? '');
    try {
      return await backupTimes(database);
    } finally {
      await database.close();
    }
  }

  anotherMachine(name: string): Settings {
    const DATA_DIR = join(this.folder, name, 'var');
    return { DATA_DIR, DATABASE_URL: `sqlite:${join(DATA_DIR, 'animal-store.db')}` };
  }

  config(more: Settings = {}): Config {
    return loadConfig({ ...this.home.settings, ...this.settings, ...more });
  }

  change(sql: string): void {
    const file = new SqliteDatabase(
      (this.home.settings['DATABASE_URL'] ?? '').slice('sqlite:'.length),
    );
    try {
      file.exec(sql);
    } finally {
      file.close();
    }
  }

  async close(): Promise<void> {
    await this.home.remove();
    this.#guard.end();
  }
}

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

export const visited = async (machine: Machine) => {
  const client = await machine.visitor();
  const { status, body } = await client.get(host, '/');
  const socket = await client.connect(host);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return { status, body: String(body), fingerprint256 };
};

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
