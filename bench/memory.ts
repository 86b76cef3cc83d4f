import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSide } from './create-pets.ts';
import { listSide } from './list-pets.ts';
import {
  startService,
  megabytesOf,
  answering,
  freePort,
  loadCore,
  startPinned,
} from './programs.ts';
import { atMost, target, type Report } from './report.ts';
import { animals, storeWithAnimals } from './store.ts';
import { postScript, inTurns, rateLines, ratio, type Side } from './rounds.ts';

/** Long enough for startup work and for the jobs that run every few seconds. */
const quietMs = 15_000;
const loadMs = 10_000;

/** Measures the resident memory of an idle process with all roles, and of the API after lists and creates. */
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

const animal = { name: 'Rex', categoryId: 3, status: 'available' };

/** Measures what tracing no, all or 10 % of requests costs the API on SQLite. The receiver runs on the load's core. */
export const tracesBench = async (folder: string): Promise<Report> => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = await startSink();
  const some = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' };
  const post = await postScript(folder, animal);
  const sidesWith = async (name: string, traces: Readonly<Record<string, string>>) => {
    const url = `sqlite:${join(folder, `${name}.db`)}`;
    const settings = { DATABASE_URL: url, DATA_DIR: folder, ROLES: 'api' };
    const store = await storeWithAnimals(settings, 1000);
    const server = await startService({ ...settings, ...traces });
    const list = await listSide(`list, ${name}`, server, store);
    const { secret } = store;
    return { list, create: await createSide(`create, ${name}`, server, { secret, script: post }) };
  };
  const none = await sidesWith('no traces', {});
  const all = await sidesWith('all traced', { OTEL_EXPORTER_OTLP_ENDPOINT });
  const tenth = await sidesWith('one of ten', { OTEL_EXPORTER_OTLP_ENDPOINT, ...some });
  const sides = [none.list, all.list, tenth.list, none.create, all.create, tenth.create];
  const measured = await inTurns(sides);
  const of = (side: Side, base: Side) => `${side.name}: ${ratio(measured, side, base).toFixed(2)}`;
  return {
    heading: 'what traces cost, SQLite, role api, 32 connections',
    lines: [
      ...rateLines(measured),
      'of the rate without traces:',
      ...[all, tenth].flatMap(({ list, create }) => [of(list, none.list), of(create, none.create)]),
    ],
    targets: [],
  };
};

const startSink = async (): Promise<string> => {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  await answering(startPinned(loadCore, [process.execPath, 'bench/otlp-sink.ts', port]), url);
  return url;
};
