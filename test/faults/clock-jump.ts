import { setTimeout as delay } from 'node:timers/promises';
import { inProgress } from './fault-words.ts';
import type { Fault } from './fault.ts';

const hour = 3600;
const between = 1_500;

/** Sets the clock of the service ahead and back, as an operator who corrects it would. */
export const clockJump: Fault = {
  name: 'the clock jumps an hour ahead and back',
  databases: ['sqlite', 'mariadb'],
  needs: 'fake clock',
  mayAnswer: inProgress,
  recoversWithinMs: 5_000,
  // Meanwhile it counts in other windows.
  countsInexactly: true,
  strike: async ({ ground }) => {
    await ground.clock!.advance(hour);
    await delay(between);
    await ground.clock!.advance(-hour);
    await delay(between);
    return {};
  },
};
