import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { seedDomains } from './due-domains.ts';
import { startService } from './programs.ts';
import { atMost, target, type Report } from './report.ts';
import { median } from './rounds.ts';
import { seedUsage, storeWithAnimals } from './store.ts';

const animals = 1_000_000;
const domains = 1000;
/** Low, because a person may request only 600 pages a minute. */
const rounds = 40;
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
  '/dashboard/usage?range=30d',
  '/dashboard/account',
  '/dashboard/account/people',
  '/dashboard/me',
];

/** Measures how long each dashboard page takes, one at a time, for a large store, and how much a first visit loads. */
export const dashboardBench = async (folder: string): Promise<Report> => {
  const settings = {
    DATABASE_URL: `sqlite:${join(folder, 'dashboard.db')}`,
    DATA_DIR: join(folder, 'dashboard'),
    ROLES: 'api,dashboard',
    LOG_LEVEL: 'warn',
  };
  const { accountId, linkSecret } = await storeWithAnimals(settings, animals);
  const dueAt = new Date(Date.now() + 86_400_000);
  await seedDomains(settings, { accountId, count: domains, dueAt });
  await seedUsage(settings, accountId);
  const { origin } = await startService(settings);
  const entry = await get(`${origin}/dashboard/sign-in/${linkSecret}`, '');
  const cookie = entry.cookie.split(';')[0] ?? '';
  const found: Page[] = [];
  for (const page of pages) found.push(await measure(origin, page, cookie));
  const slowest = Math.max(...found.map(({ medianMs }) => medianMs));
  const firstKb = (await firstLoad(origin, cookie)) / 1024;
  return {
    heading: `dashboard, ${animals.toLocaleString('en')} animals, ${domains.toLocaleString('en')} domains of one project, SQLite`,
    lines: found.map(line),
    targets: [
      target('dashboard, slowest page, median', slowest, atMost(wantedMs, 'ms')),
      target('dashboard, first load with all assets', firstKb, atMost(wantedFirstLoadKb, 'KiB')),
    ],
  };
};

interface Page {
  readonly page: string;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly bytes: number;
}

const line = ({ page, medianMs, p95Ms, bytes }: Page): string =>
  `${page}: median ${medianMs.toFixed(1)} ms, p95 ${p95Ms.toFixed(1)} ms, ${(bytes / 1024).toFixed(1)} KiB compressed`;

const measure = async (origin: string, page: string, cookie: string): Promise<Page> => {
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    const answer = await get(origin + page, cookie);
    times.push(performance.now() - begin);
    if (answer.status !== 200) throw new Error(`${page}: ${String(answer.status)}`);
    bytes = answer.body.length;
  }
  const p95Ms = times.toSorted((a, b) => a - b)[Math.floor(0.95 * (rounds - 1))] ?? NaN;
  return { page, medianMs: median(times), p95Ms, bytes };
};

/** @returns compressed bytes */
const firstLoad = async (origin: string, cookie: string): Promise<number> => {
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
  return bytes;
};

interface Got {
  readonly status: number;
  readonly cookie: string;
  readonly isZipped: boolean;
  /** The bytes as received, still compressed. */
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
