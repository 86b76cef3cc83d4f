import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Home, type Service, printedAccount } from './service-process.ts';
import { edgeClient, type EdgeClient } from '../http/edge-client.ts';
import { until } from '../until.ts';
import { logOf } from './service-log.ts';

export interface NewAccount {
  readonly account: { readonly id: string };
  readonly key: { readonly id: string; readonly secret: string };
}

/** A command's machine-readable output. */
export const commandOf = async <T>(home: Home, line: string): Promise<T> => {
  const { code, stdout, stderr } = await home.run([...line.split(' '), '--json']);
  if (code !== 0 || stderr !== '') throw new Error(`${line} ended with ${String(code)}: ${stderr}`);
  return JSON.parse(stdout) as T;
};

/** Opens an account that can reach only its daily limit, because a minute can end at any moment. */
export const openAccount = async (home: Home, perDay: number): Promise<NewAccount> => {
  const create = 'account create --name Zoo --email zoo@animal-store.test --plan enterprise';
  const opened = await commandOf<NewAccount>(home, create);
  const limits = `--plan enterprise --per-minute 100000 --per-day ${perDay}`;
  await commandOf(home, `account set-plan --account ${opened.account.id} ${limits}`);
  return opened;
};

export const ask = async ({ origin }: Service, { key }: NewAccount): Promise<Response> => {
  const headers = { Authorization: `Bearer ${key.secret}` };
  const response = await fetch(`${origin}/v1/pets`, { headers });
  await response.arrayBuffer();
  return response;
};

export const left = (response: Response): number =>
  Number(response.headers.get('X-RateLimit-Remaining'));

/** The end of the day in which the request was counted. */
export const windowEnd = (response: Response): number =>
  Number(response.headers.get('X-RateLimit-Reset'));

export const host = 'birds.sites.animal-store.test';

export const publish = async (home: Home, page: string): Promise<void> => {
  const folder = join(home.settings['DATA_DIR'] ?? '', page);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'index.html'), page);
  const { code, stderr } = await home.run(['deploy', folder, '--project', 'birds']);
  if (code !== 0) throw new Error(stderr);
};

export const settingsOf = ({ http, https }: EdgeClient['ports']) => ({
  EDGE_HTTP_PORT: String(http),
  EDGE_HTTPS_PORT: String(https),
});

export const startProject = (home: Home, service: Service) =>
  home.run(['project', 'create', '--account', printedAccount(service), '--name', 'Birds']);

export const rootOf = (home: Home) =>
  readFile(join(home.settings['DATA_DIR'] ?? '', 'local-ca.pem'), 'utf8');

/** Waits until each of a dozen new connections gets the page, so that every process has it. */
export const served = async (
  home: Home,
  ports: EdgeClient['ports'],
  page: string,
): Promise<void> => {
  await until(`${page} is served`, async () => {
    const client = edgeClient(ports, await rootOf(home).catch(() => ''));
    const visit = () => client.get(host, '/').then(({ body }) => String(body), String);
    const seen = await Promise.all(Array.from({ length: 12 }, visit));
    return seen.every((one) => one === page);
  });
};

export const metric = async (service: Service, name: string): Promise<number> =>
  numberIn(await metricsOf(service), name);

/**
 * Like `metric`, but from an answer with the figures of this many processes. A process that is too busy is missing
 * from an answer.
 */
export const metricOfAll = (processes: number, service: Service, name: string): Promise<number> =>
  until(`${processes} processes tell their figures`, async () => {
    const text = await metricsOf(service);
    return numberIn(text, 'processes{state="serving"}') === processes && numberIn(text, name);
  });

const metricsOf = async ({ origin }: Service): Promise<string> =>
  (await fetch(`${origin}/metrics`)).text();

const numberIn = (metrics: string, name: string): number => {
  const line = metrics.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
};

interface Line {
  readonly pid: number;
  readonly msg?: string;
  readonly roles?: readonly string[];
  readonly path?: string;
}

const linesOf = (service: Service) => logOf(service) as readonly unknown[] as readonly Line[];

interface ServingProcess {
  readonly pid: number;
  readonly roles: readonly string[];
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The processes of a service that have begun to serve and have not ended. */
export const processesOf = (service: Service): readonly ServingProcess[] =>
  linesOf(service)
    .filter(({ msg, pid }) => msg === 'serving' && isAlive(pid))
    .map(({ pid, roles = [] }) => ({ pid, roles }));

/** Waits until this many processes serve, none of them among `others`. */
export const servingProcesses = (
  service: Service,
  count: number,
  others: readonly ServingProcess[] = [],
): Promise<readonly ServingProcess[]> =>
  until(`${count} processes serve`, () => {
    const all = processesOf(service);
    const isOther = ({ pid }: ServingProcess) => others.some((one) => one.pid === pid);
    return all.length === count && !all.some(isOther) && all;
  });

export const endOf = (processes: readonly ServingProcess[]): Promise<unknown> =>
  until('the processes end', () => !processes.some(({ pid }) => isAlive(pid)));

export const answeredBy = (service: Service, path: string): ReadonlySet<number> =>
  new Set(
    linesOf(service)
      .filter((line) => line.path === path)
      .map(({ pid }) => pid),
  );

export const saysSo = (service: Service, msg: string): number =>
  linesOf(service).filter((line) => line.msg === msg).length;
