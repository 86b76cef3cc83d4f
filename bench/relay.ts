import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '../src/adapters/kysely/database.ts';
import { createSide } from './create-pets.ts';
import { startService, type Server, startAsking, type Waits } from './programs.ts';
import { atMost, target, type Report } from './report.ts';
import { storeWithAnimals } from './store.ts';
import { postScript } from './rounds.ts';

const deliveries = 30_000;
const atOnce = 500;
const [warmUpMs, probeMs] = [6_000, 6_000];
const fewMs = 5;

/** Measures `/healthz` while events are delivered, while 32 connections create animals, and during both. */
export const relayBench = async (folder: string): Promise<Report> => {
  const settings = {
    DATABASE_URL: `sqlite:${join(folder, 'relay.db')}`,
    DATA_DIR: folder,
    ROLES: 'api,worker',
  };
  const { accountId, secret } = await storeWithAnimals(settings, 0);
  const database = new Database(settings.DATABASE_URL);
  try {
    const server = await startService(settings);
    const script = await postScript(folder, { name: 'Rex', categoryId: 3, status: 'available' });
    const creates = await createSide('create', server, { secret, script });
    const whileCreating = async () => {
      const [waits] = await Promise.all([waitsOf(server), creates.load(probeMs)]);
      return waits;
    };
    await creates.load(warmUpMs);
    const idle = await waitsOf(server);
    const creating = await whileCreating();
    await addDeliveries(database, accountId, 'both');
    const both = await delivering(database, whileCreating);
    await noneLeft(database);
    await addDeliveries(database, accountId, 'alone');
    const alone = await delivering(database, () => waitsOf(server));
    return {
      heading: `GET /healthz a hundred times a second, API and worker in one process, SQLite`,
      lines: [
        inWords('nothing else happens', idle),
        inWords('32 connections create', creating),
        `${inWords('and events are delivered', both)}, ${both.perSecond.toFixed(0)} deliveries a second`,
        `${inWords('events are delivered, nothing else', alone)}, ${alone.perSecond.toFixed(0)} deliveries a second`,
      ],
      targets: [
        target(
          'p99 of a GET, more while events are delivered',
          alone.p99 - idle.p99,
          atMost(fewMs, 'ms'),
        ),
        target(
          'p99 of a GET during creates, more while events are delivered',
          both.p99 - creating.p99,
          atMost(fewMs, 'ms'),
        ),
      ],
    };
  } finally {
    await database.close();
  }
};

const inWords = (what: string, { median, p99, longest }: Waits): string =>
  `${what}: median ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`;

const waitsOf = ({ origin }: Server): Promise<Waits> =>
  startAsking({ url: `${origin}/healthz`, everyMs: 10 }, probeMs).waits;

/** @throws Error when nothing was delivered meanwhile */
const delivering = async (database: Database, work: () => Promise<Waits>) => {
  const [before, begin] = [await waiting(database), performance.now()];
  const waits = await work();
  const done = before - (await waiting(database));
  if (done <= 0) throw new Error('no event was delivered');
  return { ...waits, perSecond: (done / (performance.now() - begin)) * 1000 };
};

const waiting = async (database: Database): Promise<number> => {
  const { left } = await database.run((db) =>
    db
      .selectFrom('deliveries')
      .select((eb) => eb.fn.countAll<bigint>().as('left'))
      .executeTakeFirstOrThrow(),
  );
  return Number(left);
};

const noneLeft = async (database: Database): Promise<void> => {
  while ((await waiting(database)) > 0) await delay(100);
};

/** Adds deliveries for deploys whose files are already gone. They wait for the worker, which looks every second. */
const addDeliveries = (database: Database, accountId: string, round: string): Promise<void> =>
  database.transaction(async (db) => {
    for (let begin = 0; begin < deliveries; begin += atOnce) {
      const ids = Array.from({ length: atOnce }, (_, at) => `${round}-${String(begin + at)}`);
      const events = ids.map((id) => ({
        id: `evt_${id}`,
        account_id: accountId,
        type: 'deploy_discarded',
        details: JSON.stringify({ projectId: 'proj_none', deployId: `dep_${id}` }),
        occurred_at: BigInt(Date.now()),
        actor: 'service',
      }));
      const rows = ids.map((id) => ({
        event_id: `evt_${id}`,
        subscriber: 'storage',
        attempts: 0n,
        due_at: 0n,
        parked: 0n,
        claim: null,
        problem: null,
      }));
      await db.insertInto('events').values(events).execute();
      await db.insertInto('deliveries').values(rows).execute();
    }
  });
