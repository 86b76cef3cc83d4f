import { coversHosts, pairOf } from '../domain/own/platform.ts';
import { isSpent, ownNameOf } from '../domain/own/spent.ts';
import type { DomainPorts } from '../ports.ts';

type Ports = Pick<
  DomainPorts,
  'ownNames' | 'certificates' | 'naming' | 'hasPlatformFiles' | 'clock'
>;

/**
 * Where one certificate is for all names of the platform, deletes what is left of those for the hosts of projects once
 * they have ended; and of the one that we ordered, where the operator's files replace it.
 * @returns how many
 */
export const forgetOwnNames =
  (ports: Ports) =>
  async (isStopping: () => boolean = () => false): Promise<number> => {
    const { ownNames, certificates, naming, hasPlatformFiles, clock } = ports;
    const now = clock.now();
    const names = new Map((await ownNames.all()).map((one) => [one.host, one]));
    const pair = pairOf(naming.platformHost).host;
    if (!hasPlatformFiles && !coversHosts(names.get(pair), now)) return 0;
    const validities = await certificates.validities();
    const below = [...validities.keys()].filter((host) => host.endsWith(pair.slice(1)));
    let forgotten = 0;
    for (const host of new Set([...names.keys(), ...below])) {
      if (isStopping()) break;
      if (!isSpent(ownNameOf(host, names.get(host), validities.get(host)), now)) continue;
      const isForgotten = await ownNames.forget(host, now, (name, validity) =>
        isSpent(ownNameOf(host, name, validity), now),
      );
      if (isForgotten) forgotten += 1;
    }
    return forgotten;
  };
