import { setTimeout as delay } from 'node:timers/promises';
import { inProgress, unavailable } from './fault-words.ts';
import type { Fault } from './fault.ts';
import { outage } from './outage.ts';
import { serverOf } from './server-outages.ts';

const databases = ['mariadb', 'galera'] as const;
/** A little longer than the server keeps locks of a lost connection (`wait_timeout` of mysql-session.ts). */
const recoversWithinMs = 75_000;
const distantMs = 15;
const distantForMs = 3_000;

/** Faults between the service and its database. */
export const networkFaults: readonly Fault[] = [
  {
    name: 'the network to the database goes silent',
    databases,
    mayAnswer: [...unavailable, ...inProgress],
    recoversWithinMs,
    strike: outage({
      away: (scene) => {
        const { proxy } = serverOf(scene);
        proxy.swallowNew(true);
        proxy.loseState();
        return Promise.resolve();
      },
      back: (scene) => {
        serverOf(scene).proxy.swallowNew(false);
        return Promise.resolve();
      },
    }),
  },
  {
    name: 'connections to the database become half-open',
    databases,
    mayAnswer: [...unavailable, ...inProgress],
    recoversWithinMs,
    strike: (scene) => {
      serverOf(scene).proxy.loseState();
      return Promise.resolve({});
    },
  },
  {
    name: `the database is ${distantMs} ms away`,
    databases,
    mayAnswer: [],
    recoversWithinMs: 10_000,
    strike: async (scene) => {
      const { proxy } = serverOf(scene);
      proxy.slowDown(distantMs);
      await delay(distantForMs);
      proxy.slowDown(0);
      return {};
    },
  },
];
