import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSide } from './create-pets.ts';
import { listSide } from './list-pets.ts';
import { startService } from './programs.ts';
import { atMost, target, type Report } from './report.ts';
import { megabytesOf } from './server-usage.ts';
import { animals, storeWithAnimals } from './store.ts';
import { postScript } from './wrk.ts';

/** Long enough for the work of a start, and for the jobs that run every few seconds. */
const quietMs = 15_000;
const loadMs = 10_000;

/** Resident memory of a process with all roles that has nothing to do, and of the API after lists and creates. */
export const memoryBench = async (folder: string): Promise<Report> => {
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'memory.db')}`, DATA_DIR: folder };
  const { secret } = await storeWithAnimals(settings);
  const quiet = await startService(settings);
  const atStart = megabytesOf(quiet.pid);
  await delay(quietMs);
  const afterQuiet = megabytesOf(quiet.pid);
  const api = await startService({ ...settings, ROLES: 'api' });
  const list = await listSide('list', api, { secret });
  const script = await postScript(folder, { name: 'Rex', categoryId: 3, status: 'available' });
  const create = await createSide('create', api, { secret, script });
  await list.load(loadMs);
  const afterLists = megabytesOf(api.pid);
  await create.load(loadMs);
  await list.load(loadMs);
  const afterAll = megabytesOf(api.pid);
  return {
    heading: `resident memory, SQLite, ${String(animals)} animals`,
    lines: [
      `all roles: ${atStart.toFixed(0)} MB when ready, ${afterQuiet.toFixed(0)} MB after ${String(quietMs / 1000)} quiet s`,
      `API: ${afterLists.toFixed(0)} MB after lists, ${afterAll.toFixed(0)} MB after creates and more lists`,
    ],
    targets: [
      target('memory of a quiet process with all roles', afterQuiet, atMost(130, 'MB')),
      target('memory of the API after load', Math.max(afterLists, afterAll), atMost(160, 'MB')),
    ],
  };
};
