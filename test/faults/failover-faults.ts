import { Database } from '../../src/adapters/kysely/database.ts';
import type { MariaDb } from '../support/servers/mariadb.ts';
import type { ReplicatedMariaDb } from '../support/servers/replicated-mariadb.ts';
import { connectAsAdmin } from '../support/servers/mysql-admin.ts';
import { within } from '../support/until.ts';
import { inProgress, unavailable, type Answer } from './fault-words.ts';
import type { Fault, Scene, Struck } from './fault.ts';
import { fleetLaws, fleetOf } from './fleet-laws.ts';
import { serverOf } from './server-outages.ts';

/** Usually within a second; beside the load on a busy machine it takes longer. */
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

/** Nobody notices: each process counts by itself meanwhile. */
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

/** Connections to the old primary stay open: the service has to leave them by itself. */
const handOver = async (scene: Scene): Promise<Struck> => {
  const pair = pairOf(scene);
  const complaintsNow = await fleetLaws(scene);
  const old = pair.primary();
  // As an edge: no refused write tells it that its server is no longer the primary.
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

/** Another server becomes the primary, of Redis or of the database, and no process is restarted. */
export const failoverFaults: readonly Fault[] = [
  failover('the primary of Redis is moved by its sentinels', [], (scene) =>
    newRedisPrimary(scene, 'move'),
  ),
  failover('the primary of Redis is killed (-9), and its sentinels replace it', [], (scene) =>
    newRedisPrimary(scene, 'kill'),
  ),
  failover('the database is handed over to its replica', mayFail, handOver),
  // The last one: the killed server does not come back.
  failover('the database is killed (-9), and its replica takes over', mayFail, takeOver),
];
