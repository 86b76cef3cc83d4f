import { within } from '../support/until.ts';
import type { Fault, Scene, Struck } from './fault.ts';
import { isWriter } from './load-record.ts';
import type { FaultServer } from './fault-servers.ts';
import { type Answer, unavailable, inProgress } from './fault-words.ts';

/** How a server fails and recovers. */
export interface Outage {
  readonly away: (scene: Scene) => Promise<unknown>;
  readonly back: (scene: Scene) => Promise<unknown>;
  /** Answers that each writer must get meanwhile, at least once. */
  readonly writersSee?: readonly Answer[];
  /** Answers that each reader must get meanwhile. */
  readonly readersSee?: readonly Answer[];
  /** Clients that must see no refusal meanwhile, once earlier requests have settled. */
  readonly goesOn?: (client: string) => boolean;
  /** How long a client may wait for a refusal. */
  readonly refusedWithinMs?: number;
}

const longestMs = 30_000;
const settlingMs = 2_000;

/**
 * A server fails under load until every earlier request has an answer and each client has seen the outage,
 * because a request that waits for the server has no fixed deadline.
 */
export const outage =
  (one: Outage): Fault['strike'] =>
  async (scene): Promise<Struck> => {
    const { away, back, writersSee = unavailable, readersSee = unavailable } = one;
    const { record } = scene.load;
    const gone = performance.now();
    await away(scene);
    const since = performance.now();
    const complaints: string[] = [];
    const wait = (what: string, ask: () => boolean) =>
      within(longestMs, what, ask).catch(() => void complaints.push(`not so: ${what}`));
    await wait('who asked before has an answer', () => record.openSince(gone) === 0);
    await wait('writers see it', () => record.saw(writersSee, since, isWriter));
    await wait('readers see it', () => record.saw(readersSee, since, isReader));
    const { goesOn } = one;
    const settled = since + settlingMs;
    if (goesOn) await wait('others go on', () => record.saw(['200'], settled, goesOn));
    const refused = record.failures.filter(({ client, at }) => goesOn?.(client) && at > settled);
    if (refused.length > 0) complaints.push(`others were refused ${refused.length} times`);
    await back(scene);
    const endedAt = performance.now();
    const slowest = Math.max(0, ...record.failures.map(({ tookMs }) => tookMs));
    const { refusedWithinMs = Infinity } = one;
    if (slowest > refusedWithinMs) complaints.push(`a refusal took ${Math.round(slowest)} ms`);
    return { complaints, endedAt };
  };

const isReader = (client: string): boolean => !isWriter(client);

export const serverOf = ({ ground }: Scene): FaultServer => {
  const { server } = ground.database;
  if (!server) throw new Error('this fault needs a database server');
  return server;
};

const databases = ['mariadb', 'galera'] as const;
/** A crashed server reads its log first; a node of a cluster fetches what it missed as well. */
const recoversWithinMs = 30_000;

const away = (name: string, strike: Outage): Fault => ({
  name: `the database server ${name}`,
  databases,
  mayAnswer: [...unavailable, ...inProgress],
  recoversWithinMs,
  strike: outage(strike),
});

/** The database server, or the cluster node that takes the writes, goes away and returns. */
export const serverOutages: readonly Fault[] = [
  away('is killed (-9) and started again', {
    away: (scene) => serverOf(scene).node.kill(),
    back: (scene) => serverOf(scene).node.restart(),
  }),
  away('shuts down and is started again', {
    away: (scene) => serverOf(scene).node.shutDown(),
    back: (scene) => serverOf(scene).node.restart(),
  }),
  away('freezes and goes on', {
    away: (scene) => serverOf(scene).node.freeze(),
    back: (scene) => {
      serverOf(scene).node.thaw();
      return Promise.resolve();
    },
  }),
];
