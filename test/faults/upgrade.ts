import { until } from '../support/until.ts';
import { faultDatabases, inProgress } from './fault-words.ts';
import type { Fault, Scene } from './fault.ts';

/** Three processes of the last release are replaced by this one, one by one, while they serve. */
export const upgrade: Fault = {
  name: 'the last release is upgraded while it serves',
  databases: faultDatabases,
  processes: 3,
  needs: 'last release',
  mayAnswer: inProgress,
  recoversWithinMs: 5_000,
  endsProcesses: true,
  strike: async (scene) => {
    const { ground, load } = scene;
    for (const seat of ground.services.keys()) {
      await ground.services[seat]!.end('SIGTERM');
      await ground.restart(seat);
      await until('it is ready', () => isReady(scene, seat));
      const replaced = performance.now();
      await until('old and new serve side by side', () => load.allWell(replaced));
    }
    const recoveryMs = load.record.longestPauseMs;
    return { note: `from ${ground.lastRelease?.name ?? ''}`, recoveryMs };
  },
};

const isReady = async ({ ground }: Scene, seat: number): Promise<boolean> =>
  (await fetch(`${ground.services[seat]!.origin}/readyz`)).ok;
