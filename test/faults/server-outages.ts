import { inProgress, unavailable } from './fault-words.ts';
import type { Fault, Scene } from './fault.ts';
import type { FaultServer } from './fault-servers.ts';
import { outage, type Outage } from './outage.ts';

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

/** The server of the database, or in a cluster the node that takes the writes, goes away and comes back. */
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
