import { join } from 'node:path';
import { createSide } from './create-pets.ts';
import { listSide } from './list-pets.ts';
import { answering, freePort, loadCore, startPinned, startService } from './programs.ts';
import type { Report } from './report.ts';
import { inTurns, rateLines, ratio, type Side } from './rounds.ts';
import { storeWithAnimals } from './store.ts';
import { postScript } from './wrk.ts';

const animal = { name: 'Rex', categoryId: 3, status: 'available' };

/** What traces cost the API on SQLite: none, all requests, and one of ten. The receiver runs on the core of the load. */
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
