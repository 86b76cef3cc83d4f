import { inProgress, unavailable } from './fault-words.ts';
import type { Fault } from './fault.ts';
import { outage } from './outage.ts';

/** The disk of the database is full until somebody frees space. */
export const fullDisk: Fault = {
  name: 'the disk of the database is full',
  databases: ['sqlite', 'mariadb'],
  needs: 'small disk',
  mayAnswer: [...unavailable, ...inProgress],
  recoversWithinMs: 20_000,
  strike: outage({
    away: ({ ground }) => ground.disk!.fill(),
    back: ({ ground }) => ground.disk!.free(),
    readersSee: ['200'],
  }),
};
