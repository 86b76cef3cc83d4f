import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { edgeClient, type EdgeClient } from '../http/edge-client.ts';
import { until } from '../until.ts';
import { printedAccount, type Home, type Service } from './service-process.ts';

/** Of the site of the project `Birds`. */
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

/** Waits until each of a dozen new connections gets the page, so every process has it. */
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

/** The number of a metric. */
export const metric = async (service: Service, name: string): Promise<number> =>
  numberIn(await metricsOf(service), name);

/** The same from an answer that has the figures of so many processes: one that is too busy to tell them is left out. */
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
