import type { GaleraCluster } from '../support/servers/galera.ts';
import { inProgress, unavailable } from './fault-words.ts';
import type { Fault, Scene } from './fault.ts';
import { fleetLaws } from './fleet-laws.ts';
import { outage } from './outage.ts';
import { serverOf } from './server-outages.ts';

const clusterOf = (scene: Scene): GaleraCluster => {
  const { cluster } = serverOf(scene);
  if (!cluster) throw new Error('this fault needs a cluster');
  return cluster;
};

const galera = (name: string, strike: Fault['strike']): Fault => ({
  name,
  databases: ['galera'],
  mayAnswer: [...unavailable, ...inProgress],
  recoversWithinMs: 30_000,
  strike,
});

/** From now on the service writes to that node; connections to the other one are closed. */
const writeTo = (scene: Scene, at: number): void => {
  const { proxy, lead } = serverOf(scene);
  lead(clusterOf(scene).nodes[at]!);
  proxy.cut();
};

/** Nodes of a cluster come and go, and another one takes the writes. One at a time takes writes. */
export const galeraFaults: readonly Fault[] = [
  galera('a node that takes no writes is killed (-9)', async (scene) => {
    const { nodes, hasSize } = clusterOf(scene);
    await nodes[2]!.kill();
    await hasSize(0, 2);
    const endedAt = performance.now();
    await nodes[2]!.restart();
    await hasSize(0, 3);
    return { endedAt };
  }),
  galera(
    'the cluster loses its quorum and regains it',
    outage({
      away: async (scene) => {
        const { nodes } = clusterOf(scene);
        await Promise.all([nodes[1]!.freeze(), nodes[2]!.freeze()]);
      },
      back: async (scene) => {
        const { nodes, hasSize } = clusterOf(scene);
        nodes[1]!.thaw();
        nodes[2]!.thaw();
        await hasSize(0, 3);
      },
    }),
  ),
  galera('another node takes the writes', async (scene) => {
    writeTo(scene, 1);
    await scene.load.isWell();
    writeTo(scene, 0);
    return {};
  }),
  {
    ...galera('the writing node is killed (-9), and another one takes over', async (scene) => {
      const { nodes, hasSize } = clusterOf(scene);
      const complaintsNow = await fleetLaws(scene);
      await nodes[0]!.kill();
      writeTo(scene, 1);
      const endedAt = performance.now();
      await scene.load.isWell();
      const recoveryMs = performance.now() - endedAt;
      const complaints = await complaintsNow();
      await nodes[0]!.restart();
      await hasSize(1, 3);
      writeTo(scene, 0);
      const note = `writes go on after ${(recoveryMs / 1000).toFixed(1)} s`;
      return { complaints, recoveryMs, note };
    }),
    ...{ processes: 2, needs: 'fleet' },
  },
];
