import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { bellPath } from '../src/adapters/dashboard/frame/paths.ts';
import { openContainer } from '../src/app/container.ts';
import { AccessKey } from '../src/app/keys.ts';
import { loadConfig } from '../src/app/settings/config.ts';
import { seedDomains } from './due-domains.ts';
import { listSide } from './list-pets.ts';
import { type Server, startService, cpuSecondsOf } from './programs.ts';
import { atLeast, type Report, target } from './report.ts';
import { inTurns, rateLines, ratio } from './rounds.ts';
import { storeWithAnimals } from './store.ts';

// The limits of open pages per account and per session, so that all 500 stay open.
const [accounts, people, pagesOfEach] = [10, 5, 10];
const domains = pagesOfEach - 3;
const wantedShare = 0.95;
const [settleMs, idleMs] = [5_000, 10_000];

interface OpenPages {
  readonly name: string;
  /** The pages that one person opens. */
  readonly of: (viewer: Viewer) => readonly string[];
}

/** Measures how much slower API lists become while the same process has 500 live pages open. */
export const livePagesBench = (folder: string): Promise<Report> =>
  openPagesBench(folder, { name: 'live pages', of: (viewer) => livePagesOf(viewer) });

/** Measures how much slower API lists become while 500 other pages are open, which follow only the bell. */
export const bellsBench = (folder: string): Promise<Report> =>
  openPagesBench(folder, { name: 'bells', of: () => Array<string>(pagesOfEach).fill(bellPath) });

const openPagesBench = async (folder: string, pages: OpenPages): Promise<Report> => {
  const settingsOf = (name: string) => ({
    DATABASE_URL: `sqlite:${join(folder, `${name}.db`)}`,
    DATA_DIR: join(folder, name),
    ROLES: 'api,dashboard',
    // Each person signs in from a different address, because one address may not sign in that often.
    TRUST_PROXY: '1',
  });
  const [quietStore, busyStore] = [settingsOf('quiet'), settingsOf('busy')];
  const [quiet, busy] = [await storeWithAnimals(quietStore), await storeWithAnimals(busyStore)];
  const viewers = await seedViewers(busyStore);
  const server = await startService(busyStore);
  const sides = {
    without: await listSide(`no ${pages.name}`, await startService(quietStore), quiet),
    with: await listSide(`500 ${pages.name}`, server, busy),
  };
  const streams = await openStreams(server, viewers, pages);
  try {
    await delay(settleMs);
    const before = cpuSecondsOf(server.pid);
    await delay(idleMs);
    const idleShare = ((cpuSecondsOf(server.pid) - before) * 1000) / idleMs;
    const measured = await inTurns([sides.without, sides.with]);
    const open = streams.filter((stream) => !stream.destroyed && !stream.readableEnded).length;
    if (open < streams.length) throw new Error(`only ${String(open)} ${pages.name} are still open`);
    return {
      heading: `lists of the API with ${String(open)} ${pages.name} of ${String(accounts)} accounts, SQLite`,
      lines: [
        ...rateLines(measured),
        `the ${pages.name} alone take ${(idleShare * 100).toFixed(1)} % of a core`,
      ],
      targets: [
        target(
          `list with 500 ${pages.name}, of without`,
          ratio(measured, sides.with, sides.without),
          atLeast(wantedShare),
        ),
      ],
    };
  } finally {
    for (const stream of streams) stream.destroy();
  }
};

interface Viewer {
  readonly slug: string;
  readonly linkSecret: string;
}

/** Adds several people to several accounts, each with a project that has domains. */
const seedViewers = async (
  settings: Readonly<Record<string, string>>,
): Promise<readonly Viewer[]> => {
  const container = await openContainer(loadConfig(settings), pino({ level: 'silent' }));
  const access = container.get(AccessKey);
  const viewers: Viewer[] = [];
  const dueAt = new Date(Date.now() + 86_400_000);
  try {
    for (let number = 0; number < accounts; number++) {
      const slug = `shops-${String(number)}`;
      const email = `${slug}@animal-store.test`;
      const { account } = await access.createAccount({ name: slug, email, plan: 'enterprise' });
      await seedDomains(settings, { accountId: account.id, count: domains, dueAt, slug });
      for (let person = 0; person < people; person++) {
        const { secret } = await access.inviteAnybody(
          account.id,
          `person-${String(person)}@${slug}.test`,
        );
        viewers.push({ slug, linkSecret: secret });
      }
    }
    return viewers;
  } finally {
    await container.unbindAllAsync();
  }
};

const livePagesOf = ({ slug }: Viewer): readonly string[] => {
  const project = `/dashboard/projects/${slug}`;
  const list = `${project}/settings/domains`;
  const shop = (_: unknown, number: number) => `${list}/www.shop-${String(number)}.${slug}.example`;
  return [project, '/dashboard/usage', list, ...Array.from({ length: domains }, shop)];
};

/** @returns when each stream has shown its page once */
const openStreams = async (
  { origin }: Server,
  viewers: readonly Viewer[],
  pages: OpenPages,
): Promise<readonly Socket[]> => {
  const { hostname, port } = new URL(origin);
  const streams: Promise<Socket>[] = [];
  for (const [at, viewer] of viewers.entries()) {
    const cookie = await signIn(origin, viewer, `192.0.2.${String(at + 1)}`);
    for (const page of pages.of(viewer)) {
      const socket = connect(Number(port), hostname);
      streams.push(shown(socket, page));
      socket.write(
        `GET ${page} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nCookie: ${cookie}\r\n\r\n`,
      );
    }
  }
  return Promise.all(streams);
};

const signIn = async (origin: string, { linkSecret }: Viewer, address: string): Promise<string> => {
  const answer = await fetch(`${origin}/dashboard/sign-in/${linkSecret}`, {
    redirect: 'manual',
    headers: { 'X-Forwarded-For': address },
  });
  await answer.arrayBuffer();
  const [cookie] = answer.headers.getSetCookie();
  if (cookie === undefined) throw new Error(`sign-in answers ${String(answer.status)}`);
  return cookie.split(';')[0] ?? '';
};

const shown = async (socket: Socket, page: string): Promise<Socket> => {
  socket.setEncoding('utf8');
  for (let text = ''; !/event: (page|bell)/.test(text);) {
    const [chunk] = (await once(socket, 'data', { signal: AbortSignal.timeout(30_000) })) as [
      string,
    ];
    text += chunk;
    if (!text.startsWith('HTTP/1.1 200')) throw new Error(`${page} answers ${text}`);
  }
  return socket.resume();
};
