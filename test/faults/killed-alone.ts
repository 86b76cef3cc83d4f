import { setTimeout as delay } from 'node:timers/promises';
import { usedOf } from './account-use.ts';
import type { Fault } from './fault.ts';
import { everyDatabase, inProgress, unavailable } from './fault-words.ts';

const mostRounds = 5;
const runsForMs = 3_000;
/** Counts are stored once a second; a busy machine may be late by as much. */
const mayLoseMs = 2_000;

/** The only process is killed, and continues from its stored data, events and quota. */
export const killedAlone: Fault = {
  name: 'the only process is killed (-9)',
  databases: everyDatabase,
  mayAnswer: [...unavailable, ...inProgress, 'no answer'],
  recoversWithinMs: 15_000,
  endsProcesses: true,
  strike: async ({ ground, load, orders }) => {
    const complaints: string[] = [];
    for (let round = 0; round < Math.min(mostRounds, orders.kills); round++) {
      await delay(runsForMs * (1 + orders.random()));
      const counted = load.record.usedAt(performance.now() - mayLoseMs);
      await ground.services[0]!.end('SIGKILL');
      await ground.restart(0);
      const { requests } = await usedOf(ground);
      if (requests < counted) complaints.push(`${counted - requests} counted requests are lost`);
    }
    return { complaints };
  },
};
