import { replaceSqlite } from './world/disk.ts';
import { replaceGlobals } from './world/globals.ts';
import { onDemand } from '../../src/app/on-demand.ts';

// Every program that simulates imports this first, so that later modules see the replacements.
replaceSqlite();
replaceGlobals();

/** Loading takes real time, during which virtual time must not advance. */
export const loadAll = async (): Promise<void> => {
  await Promise.all([onDemand.container(), onDemand.inbound(), onDemand.mail()]);
};
