import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiOnAllCores, edgeOnAllCores, edgeBench } from './edge.ts';
import { createOnMysql, createOnSqlite } from './create-pets.ts';
import { dashboardBench } from './dashboard.ts';
import { dueDomainsBench } from './due-domains.ts';
import { listOnMysql, listOnSqlite, largeStoreBench } from './list-pets.ts';
import { bellsBench, livePagesBench } from './live-pages.ts';
import { memoryBench, tracesBench } from './memory.ts';
import { keepCoresAwake, stopPrograms } from './programs.ts';
import { nameServerBench } from './name-server.ts';
import { relayBench } from './relay.ts';
import { printedReport, printedTargets, type Report, type Target } from './report.ts';
import { simulationBench } from './simulation.ts';
import { startBench } from './start.ts';

/** Measures in an empty folder. Afterwards all programs that it started are stopped. */
type Bench = (folder: string) => Promise<Report>;

/** The names that `ONLY` selects. Nearly all benches measure ratios, because absolute numbers depend on the machine. */
const benches: Readonly<Record<string, Bench>> = {
  'create-sqlite': createOnSqlite,
  'create-mysql': createOnMysql,
  relay: relayBench,
  'list-sqlite': listOnSqlite,
  'list-mysql': listOnMysql,
  traces: tracesBench,
  'large-store': largeStoreBench,
  start: startBench,
  memory: memoryBench,
  dashboard: dashboardBench,
  'live-pages': livePagesBench,
  bells: bellsBench,
  'due-domains': dueDomainsBench,
  'name-server': nameServerBench,
  simulation: simulationBench,
  edge: edgeBench,
  'all-cores-api': apiOnAllCores,
  'all-cores-edge': edgeOnAllCores,
};

/** Selects the entries whose names contain one of the words; without words, all entries. */
const chosen = (only = ''): readonly string[] => {
  const words = only.split(/[\s,]+/).filter((word) => word !== '');
  const names = Object.keys(benches);
  if (words.length === 0) return names;
  return names.filter((name) => words.some((word) => name.includes(word)));
};

const run = async (folder: string, names: readonly string[]): Promise<void> => {
  const targets: Target[] = [];
  for (const [at, name] of names.entries()) {
    const begin = performance.now();
    process.stderr.write(`${name} (${String(at + 1)} of ${String(names.length)}) …\n`);
    try {
      const own = join(folder, name);
      await mkdir(own);
      const report = await benches[name]?.(own);
      if (report) {
        process.stdout.write(printedReport(report));
        targets.push(...report.targets);
      }
    } catch (error) {
      process.stdout.write(`${name} FAILED: ${String(error)}\n\n`);
      process.exitCode = 1;
    } finally {
      await stopPrograms();
      await rm(join(folder, name), { recursive: true, force: true });
    }
    process.stderr.write(`${name}: ${((performance.now() - begin) / 1000).toFixed(0)} s\n`);
  }
  process.stdout.write(printedTargets(targets));
};

const names = chosen(process.env['ONLY']);
if (names.length === 0) {
  process.stderr.write(`ONLY matches none of: ${Object.keys(benches).join(', ')}\n`);
  process.exitCode = 2;
} else {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-bench-'));
  const letSleep = keepCoresAwake();
  const end = async (): Promise<void> => {
    letSleep();
    await stopPrograms();
    await rm(folder, { recursive: true, force: true });
  };
  // Without this, an interrupted run would leave gigabytes behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void end().finally(() => process.exit(1)));
  }
  try {
    await run(folder, names);
  } finally {
    await end();
  }
}
