import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { failoverFaults } from '../faults/failover-faults.ts';
import type { Fault } from '../faults/fault.ts';
import { killedService, rollingRestart } from '../faults/process-faults.ts';
import { FaultRun } from '../faults/run-fault.ts';
import { serverLimits } from '../faults/server-limits.ts';
import { serverOutages } from '../faults/outage.ts';
import { sqliteFaults } from '../faults/machine-faults.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { FaultDatabase } from '../faults/fault-words.ts';

// `make faults` is the long form, with more faults; docs/testing.md says which.
const kills = 3;
const seed = randomInt(2 ** 31);

/** Uses few processes, because starting them takes most of the time. */
const few = (fault: Fault): Fault => ({ ...fault, processes: 2 });

/** Pauses, because it only matters that writes are under way, not how many. */
const paced = (fault: Fault): Fault => ({ ...fault, paceMs: 50 });

const named = (faults: readonly Fault[], words: string): Fault => {
  const fault = faults.find(({ name }) => name.includes(words));
  if (!fault) throw new Error(`no fault has "${words}" in its name`);
  return fault;
};

const short: Readonly<Partial<Record<FaultDatabase, readonly Fault[]>>> = {
  sqlite: [named(sqliteFaults, 'becomes read-only'), few(rollingRestart), few(killedService)],
  mariadb: [
    named(serverLimits, 'are killed'),
    named(serverLimits, 'read-only'),
    named(serverLimits, 'no free connection'),
    named(serverOutages, 'is killed (-9)'),
    named(serverOutages, 'freezes'),
  ],
  replicated: [
    named(failoverFaults, 'Redis is killed (-9)'),
    named(failoverFaults, 'handed over'),
    named(failoverFaults, 'database is killed (-9)'),
    // A fault that needs two processes, on the server that is left.
    { ...few(killedService), needs: 'fleet' },
  ],
};

describe.each(Object.entries(short))(`on %s (seed ${seed})`, (kind, faults) => {
  let run: FaultRun;
  beforeAll(() => {
    const tell = () => undefined;
    run = new FaultRun({ kills, soakMinutes: 0, random: seededRandom(seed), tell });
  });
  afterAll(() => run.close());

  test.each(faults.map(paced))(
    '$name: everything acknowledged is stored exactly once, with its events',
    async (fault) => {
      const { complaints, acknowledged } = await run.run(fault, kind as FaultDatabase);
      expect(complaints).toEqual([]);
      expect(acknowledged).toBeGreaterThan(0);
    },
  );
});
