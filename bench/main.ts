import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dashboardBench } from './dashboard.ts';
import { dueDomainsBench } from './due-domains.ts';
import { edgeBench } from './edge.ts';
import { listPetsBench } from './list-pets.ts';
import { keepCoresAwake, stopPrograms } from './processes.ts';

/** All benchmarks, nearly all as ratios within one run, because absolute numbers depend on the machine. */
const benches = [listPetsBench, dashboardBench, dueDomainsBench, edgeBench];

const folder = await mkdtemp(join(tmpdir(), 'animal-store-bench-'));
try {
  keepCoresAwake();
  for (const bench of benches) {
    for (const line of await bench(folder)) process.stdout.write(`${line}\n`);
  }
} finally {
  await stopPrograms();
  await rm(folder, { recursive: true, force: true });
}
