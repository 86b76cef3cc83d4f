import { replaceSqlite } from './world/disk.ts';
import { replaceGlobals } from './world/globals.ts';
import { onDemand } from '../../src/app/on-demand.ts';

// The first import of a program that simulates: modules that come later see what is replaced here.
replaceSqlite();
replaceGlobals();

/** Loading takes real time, in which virtual time would go on. */
export const loadAll = async (): Promise<void> => {
  await Promise.all([onDemand.container(), onDemand.inbound(), onDemand.mail()]);
};
