import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SecureVisitor, unrecognizedName } from '../lab/secure-visitor.ts';
import { json, Shop } from '../lab/shop.ts';
import { until, within } from '../support/until.ts';
import type { Fleet } from './ground.ts';
import type { Scene, Fault, Struck } from './fault.ts';
import { Database } from '../../src/adapters/kysely/database.ts';
import type { MariaDb } from '../support/servers/mariadb.ts';
import type { ReplicatedMariaDb, GaleraCluster } from '../support/servers/replicated-mariadb.ts';
import { connectAsAdmin } from '../support/servers/mysql-admin.ts';
import { serverOf, outage } from './outage.ts';
import { type Answer, unavailable, inProgress } from './fault-words.ts';

/** Usually within a second; on a busy machine a little more. */
const removedWithinMs = 10_000;
const perDay = 60;
const spentBefore = 20;
const tooMany = 20;

/**
 * Checks promises between processes during the load: exact quotas, and removal. Call it before the fault,
 * so that one account has used part of its quota.
 * @returns a function for after the fault
 */
const fleetLaws = async (scene: Scene): Promise<() => Promise<readonly string[]>> => {
  await until('all count in Redis', () => countInRedis(scene));
  const ask = await openAccount(scene);
  const [first = ''] = scene.ground.origins();
  for (let n = 0; n < spentBefore; n++) await ask(first);
  return async () => {
    await until('all count in Redis', () => countInRedis(scene));
    return [...(await quotaComplaints(scene, ask)), ...(await removalComplaints(scene))];
  };
};

const fleetOf = ({ ground }: Scene): Fleet => {
  if (!ground.fleet) throw new Error('this fault needs a fleet');
  return ground.fleet;
};

const countInRedis = async ({ ground }: Scene): Promise<boolean> => {
  const texts = ground.origins().map(async (one) => (await fetch(`${one}/metrics`)).text());
  return (await Promise.all(texts)).every((text) => /^quota_counts_locally 0/m.test(text));
};

interface NewAccount {
  readonly account: { readonly id: string };
  readonly key: { readonly secret: string };
}

/** @returns a function that sends a request as this account to a process, and returns the status */
const openAccount = async ({ ground }: Scene) => {
  const run = (line: string) => json<NewAccount>((args) => ground.home.run(args), line.split(' '));
  const email = `${randomBytes(4).toString('hex')}@animal-store.test`;
  const created = await run(`account create --name Zoo --email ${email} --plan enterprise`);
  const limits = `--plan enterprise --per-minute 100000 --per-day ${perDay}`;
  await run(`account set-plan --account ${created.account.id} ${limits}`);
  const headers = { Authorization: `Bearer ${created.key.secret}` };
  return async (origin: string): Promise<number> => {
    const answer = await fetch(`${origin}/v1/pets?limit=1`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
};

/** All processes together let exactly as many concurrent requests pass as the account has left. */
const quotaComplaints = async (
  { ground }: Scene,
  ask: (origin: string) => Promise<number>,
): Promise<readonly string[]> => {
  const left = perDay - spentBefore;
  const origins = Array.from({ length: left + tooMany }, () => ground.origins()).flat();
  const statuses = await Promise.all(origins.slice(0, left + tooMany).map(ask));
  const passed = statuses.filter((status) => status === 200).length;
  const refused = statuses.filter((status) => status === 429).length;
  if (passed === left && refused === tooMany) return [];
  return [
    `of ${left} requests that were left ${passed} passed, and ${refused} of ${tooMany} were refused`,
  ];
};

/** A domain that goes live on all edges is removed, and each of them refuses it soon. */
const removalComplaints = async (scene: Scene): Promise<readonly string[]> => {
  const { home, slug } = scene.ground;
  const { zone, edgePorts } = fleetOf(scene);
  const shop = new Shop({ accountId: '', slug, signInUrl: '' }, (args) =>
    home.run(args, scene.ground.settings),
  );
  const host = `www.${randomBytes(4).toString('hex')}.test`;
  const { records } = await shop.add(host);
  zone.create(records[0]);
  await shop.verify(host);
  const root = await readFile(join(home.settings['DATA_DIR'] ?? '', 'local-ca.pem'), 'utf8');
  const visitors = edgePorts.map((port) => new SecureVisitor(port, root));
  const refusals = () => Promise.all(visitors.map((visitor) => visitor.refusal(host)));
  const isServed = async () => (await refusals()).every((one) => one === undefined);
  await within(60_000, `${host} is served by all`, isServed);
  await shop.remove(host);
  const isRefused = async () => (await refusals()).every((one) => one === unrecognizedName);
  return within(removedWithinMs, `${host} is refused by all`, isRefused).then(
    () => [],
    (error: unknown) => [String(error)],
  );
};

/** Usually within a second; longer under load on a busy machine. */
const leftWithinMs = 15_000;

const pairOf = (scene: Scene): ReplicatedMariaDb => {
  const { pair } = serverOf(scene);
  if (!pair) throw new Error('this fault needs a server with a replica');
  return pair;
};

const failover = (
  name: string,
  mayAnswer: readonly Answer[],
  strike: (scene: Scene) => Promise<Struck>,
): Fault => ({
  name,
  databases: ['replicated'],
  needs: 'fleet',
  processes: 2,
  mayAnswer,
  recoversWithinMs: 15_000,
  strike,
});

/** Not noticeable: each process counts alone meanwhile. */
const newRedisPrimary = async (scene: Scene, lose: 'kill' | 'move'): Promise<Struck> => {
  const { redis } = fleetOf(scene);
  const complaintsNow = await fleetLaws(scene);
  const old = await redis.primary();
  await (lose === 'kill' ? old.kill() : redis.move());
  const wentAt = performance.now();
  await redis.isReplaced(old);
  const endedAt = performance.now();
  await scene.load.isWell();
  const recoveryMs = performance.now() - endedAt;
  const complaints = await complaintsNow();
  // Its sentinels make the killed one a replica only after 10 seconds, and one replica is enough.
  if (lose === 'kill') await old.restart();
  else await redis.hasReplicas(redis.servers.length - 1);
  const note = `another primary after ${seconds(endedAt - wentAt)}`;
  return { complaints, recoveryMs, endedAt, note };
};

/** Connections to the old primary stay open: the service must close them itself. */
const handOver = async (scene: Scene): Promise<Struck> => {
  const pair = pairOf(scene);
  const complaintsNow = await fleetLaws(scene);
  const old = pair.primary();
  // An edge writes nothing, so no refused write tells it that its server is no longer the primary.
  const reader = new Database(scene.ground.database.url);
  await reader.ping();
  const wentAt = performance.now();
  await pair.swap();
  const struck = await newPrimaryServes(scene, wentAt, complaintsNow);
  const isLeft = async () => {
    await reader.ping();
    return (await connectionsTo(scene, old)) === 0;
  };
  await within(leftWithinMs, 'nobody uses the old primary', isLeft);
  await reader.close();
  return struck;
};

const takeOver = async (scene: Scene): Promise<Struck> => {
  const pair = pairOf(scene);
  const complaintsNow = await fleetLaws(scene);
  const wentAt = performance.now();
  await pair.primary().kill();
  await pair.promote();
  return newPrimaryServes(scene, wentAt, complaintsNow);
};

const newPrimaryServes = async (
  scene: Scene,
  wentAt: number,
  complaintsNow: () => Promise<readonly string[]>,
): Promise<Struck> => {
  serverOf(scene).lead(pairOf(scene).primary());
  const endedAt = performance.now();
  await scene.load.isWell();
  const recoveryMs = performance.now() - endedAt;
  const complaints = await complaintsNow();
  const note = `writes go on after ${seconds(endedAt - wentAt + recoveryMs)}`;
  return { complaints, recoveryMs, endedAt, note };
};

const connectionsTo = async (scene: Scene, { url }: MariaDb): Promise<number> => {
  const admin = await connectAsAdmin(url);
  const count = await admin.connectionsOf(serverOf(scene).user);
  admin.close();
  return count;
};

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

const mayFail = [...unavailable, ...inProgress];

export const failoverFaults: readonly Fault[] = [
  failover('the primary of Redis is moved by its sentinels', [], (scene) =>
    newRedisPrimary(scene, 'move'),
  ),
  failover('the primary of Redis is killed (-9), and its sentinels replace it', [], (scene) =>
    newRedisPrimary(scene, 'kill'),
  ),
  failover('the database is handed over to its replica', mayFail, handOver),
  failover('the database is killed (-9), and its replica takes over', mayFail, takeOver),
];

const clusterOf = (scene: Scene): GaleraCluster => {
  const { cluster } = serverOf(scene);
  if (!cluster) throw new Error('this fault needs a cluster');
  return cluster;
};

const galera = (name: string, strike: Fault['strike']): Fault => ({
  name,
  databases: ['galera'],
  mayAnswer: [...unavailable, ...inProgress],
  recoversWithinMs: 30_000,
  strike,
});

/** From now on the service writes to that node, and connections to the other one are closed. */
const writeTo = (scene: Scene, at: number): void => {
  const { proxy, lead } = serverOf(scene);
  lead(clusterOf(scene).nodes[at]!);
  proxy.cut();
};

/** Nodes of a cluster leave and rejoin, and another one takes the writes. */
export const galeraFaults: readonly Fault[] = [
  galera('a node that takes no writes is killed (-9)', async (scene) => {
    const { nodes, hasSize } = clusterOf(scene);
    await nodes[2]!.kill();
    await hasSize(0, 2);
    const endedAt = performance.now();
    await nodes[2]!.restart();
    await hasSize(0, 3);
    return { endedAt };
  }),
  galera(
    'the cluster loses its quorum and regains it',
    outage({
      away: async (scene) => {
        const { nodes } = clusterOf(scene);
        await Promise.all([nodes[1]!.freeze(), nodes[2]!.freeze()]);
      },
      back: async (scene) => {
        const { nodes, hasSize } = clusterOf(scene);
        nodes[1]!.thaw();
        nodes[2]!.thaw();
        await hasSize(0, 3);
      },
    }),
  ),
  galera('another node takes the writes', async (scene) => {
    writeTo(scene, 1);
    await scene.load.isWell();
    writeTo(scene, 0);
    return {};
  }),
  {
    ...galera('the writing node is killed (-9), and another one takes over', async (scene) => {
      const { nodes, hasSize } = clusterOf(scene);
      const complaintsNow = await fleetLaws(scene);
      await nodes[0]!.kill();
      writeTo(scene, 1);
      const endedAt = performance.now();
      await scene.load.isWell();
      const recoveryMs = performance.now() - endedAt;
      const complaints = await complaintsNow();
      await nodes[0]!.restart();
      await hasSize(1, 3);
      writeTo(scene, 0);
      const note = `writes go on after ${(recoveryMs / 1000).toFixed(1)} s`;
      return { complaints, recoveryMs, note };
    }),
    processes: 2,
    needs: 'fleet',
  },
];
