import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../support/servers/debian-server.ts';
import { servedZone, startUnbound, type UnboundZone } from '../../support/servers/unbound.ts';

/** A zone that claims to be signed and is not. */
export const brokenZone = 'broken.test';

/** A validating resolver without a cache, so that it sees each change at the next query. */
export interface LabResolver {
  /** As `ip:port`: the same resolver at several addresses. */
  readonly servers: readonly [string, string, string];
  /** Whether names below `brokenZone` are refused. */
  readonly isBroken: boolean;
  setBroken(isBroken: boolean): Promise<void>;
  stop(): Promise<void>;
}

interface ResolverPlaces {
  /** A name server for all names, as `ip:port`, and one of its zones that has an SOA record. */
  readonly records: string;
  readonly known: string;
  /** The address of the role `dns`. */
  readonly challenges: { readonly zone: string; readonly port: number };
}

/** A key that the zone does not have. */
const wrongKey = `${brokenZone}. 3600 IN DS 12345 13 2 ${'5a'.repeat(32)}\n`;

/** Names in `test` are resolved like all others, and nothing is cached. */
const lines = [
  ...['interface: 127.0.0.2', 'interface: 127.0.0.3'],
  ...['local-zone: "test." nodefault', 'cache-max-ttl: 0', 'cache-max-negative-ttl: 0'],
];

const everything = ({ records, known }: ResolverPlaces): UnboundZone => ({
  name: known,
  source: `forward-zone:\n  name: "."\n  forward-addr: ${records.replace(':', '@')}`,
});

/** Unbound, in front of the lab's name server and ours. */
export const startResolver = async (places: ResolverPlaces): Promise<LabResolver> => {
  const folder = await mkdtemp(join(tmpdir(), 'lab-resolver-'));
  const key = join(folder, 'key');
  await writeFile(key, wrongKey);
  const port = await findFreePort();
  const { zone, port: ours } = places.challenges;
  const zones = [everything(places), servedZone(zone, ours)] as const;
  const start = (isBroken: boolean) =>
    startUnbound({ zones, trusted: isBroken ? [key] : [], port, lines });
  let isBroken = true;
  let unbound = await start(isBroken);
  return {
    servers: [`127.0.0.1:${port}`, `127.0.0.2:${port}`, `127.0.0.3:${port}`],
    get isBroken() {
      return isBroken;
    },
    setBroken: async (its) => {
      isBroken = its;
      await unbound.stop();
      unbound = await start(isBroken);
    },
    stop: async () => {
      await unbound.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
