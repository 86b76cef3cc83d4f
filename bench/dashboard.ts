import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { seedDomains } from './custom-domains.ts';
import { freePort, startProgram } from './processes.ts';
import { storeWithAnimals } from './store.ts';

const animals = 1_000_000;
const domains = 1000;
const rounds = 100;
const wantedMs = 50;
const wantedFirstLoadKb = 150;

const list = '/dashboard/projects/shops/settings/domains';
const pages = [
  '/dashboard',
  '/dashboard/projects/shops',
  list,
  `${list}/www.shop-500.shops.example`,
  '/dashboard/animals',
  '/dashboard/animals?status=available',
  '/dashboard/animals?status=sold',
  '/dashboard/keys',
  '/dashboard/usage',
  '/dashboard/account',
];

/** How long each page of the dashboard takes for a large store, one after another, and what a first visit loads. */
export const dashboardBench = async (folder: string): Promise<readonly string[]> => {
  const port = await freePort();
  const settings = {
    DATABASE_URL: `sqlite:${join(folder, 'dashboard.db')}`,
    DATA_DIR: join(folder, 'dashboard'),
    PORT: String(port),
    ROLES: 'api,dashboard',
    LOG_LEVEL: 'warn',
  };
  const { accountId, linkSecret } = await storeWithAnimals(settings, animals);
  const dueAt = new Date(Date.now() + 86_400_000);
  await seedDomains(settings, { accountId, count: domains, dueAt });
  const origin = `http://127.0.0.1:${String(port)}`;
  await startProgram(['src/main.ts', 'serve'], `${origin}/healthz`, settings);
  const entry = await get(`${origin}/dashboard/sign-in/${linkSecret}`, '');
  const cookie = entry.cookie.split(';')[0] ?? '';
  const lines = [
    `dashboard, ${animals.toLocaleString('en')} animals, ${domains.toLocaleString('en')} domains of one project, SQLite ` +
      `(wanted: less than ${String(wantedMs)} ms)`,
  ];
  for (const page of pages) lines.push(await measure(origin + page, page, cookie));
  lines.push(await firstLoad(origin, cookie));
  return lines;
};

const measure = async (url: string, name: string, cookie: string): Promise<string> => {
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    const answer = await get(url, cookie);
    times.push(performance.now() - begin);
    if (answer.status !== 200) throw new Error(`${name}: ${String(answer.status)}`);
    bytes = answer.body.length;
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(share * (rounds - 1))] ?? 0).toFixed(1);
  return `  ${name}: median ${at(0.5)} ms, p95 ${at(0.95)} ms, ${kb(bytes)} KB compressed`;
};

const firstLoad = async (origin: string, cookie: string): Promise<string> => {
  const page = await get(origin + list, cookie);
  const text = gunzipSync(page.body).toString();
  const assets = new Set(text.match(/\/dashboard\/assets\/[\w.-]+/g));
  let bytes = page.body.length;
  for (const asset of assets) {
    const answer = await get(origin + asset, cookie);
    bytes += answer.body.length;
    const [imported] = /\.\/(idiomorph\.\w+\.js)/.exec(plain(answer)) ?? [];
    if (imported !== undefined) {
      bytes += (await get(new URL(imported, `${origin}/dashboard/assets/`).href, cookie)).body
        .length;
    }
  }
  return `  first load of the list of domains with all assets: ${kb(bytes)} KB compressed (wanted: less than ${String(wantedFirstLoadKb)} KB)`;
};

interface Got {
  readonly status: number;
  readonly cookie: string;
  readonly isZipped: boolean;
  /** As it came. */
  readonly body: Buffer;
}

const plain = ({ isZipped, body }: Got): string => (isZipped ? gunzipSync(body) : body).toString();

const get = (url: string, cookie: string): Promise<Got> =>
  new Promise((resolve, reject) => {
    const headers = { Cookie: cookie, 'Accept-Encoding': 'gzip', Accept: 'text/html' };
    request(url, { headers }, (answer) => {
      buffer(answer).then((body) => {
        const isZipped = answer.headers['content-encoding'] === 'gzip';
        const [set = ''] = answer.headers['set-cookie'] ?? [];
        resolve({ status: answer.statusCode ?? 0, cookie: set, isZipped, body });
      }, reject);
    })
      .once('error', reject)
      .end();
  });

const kb = (bytes: number): string => (bytes / 1024).toFixed(1);
