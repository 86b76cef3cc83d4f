import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { everyDatabase, inProgress } from './fault-words.ts';
import type { Fault, Scene } from './fault.ts';

const apartMs = 300;

/** Behind a balancer no request is refused, whichever process is told to stop (SIGTERM). */
export const rollingRestart: Fault = {
  name: 'three processes are restarted one after the other',
  databases: everyDatabase,
  processes: 3,
  needs: 'balancer',
  mayAnswer: inProgress,
  recoversWithinMs: 20_000,
  endsProcesses: true,
  strike: async (scene) => {
    const complaints: string[] = [];
    for (const seat of scene.ground.services.keys()) {
      const { code } = await scene.ground.services[seat]!.end('SIGTERM');
      if (code !== 0) complaints.push(`a process that was told to stop ended with ${String(code)}`);
      await scene.ground.restart(seat);
      await isReady(scene, seat);
      // Long enough for the balancer to notice.
      await delay(apartMs);
    }
    return { complaints, recoveryMs: scene.load.record.longestPauseMs };
  },
};

const isReady = ({ ground }: Scene, seat: number): Promise<boolean> =>
  until('it is ready', async () => (await fetch(`${ground.services[seat]!.origin}/readyz`)).ok);
