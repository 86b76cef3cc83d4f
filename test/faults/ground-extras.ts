import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { startBalancer, type Balancer } from '../support/servers/balancer.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { startRedis, type RedisServer } from '../support/servers/redis.ts';
import type { Settings } from '../support/service/service-process.ts';
import { mountSmallDisk, type SmallDisk } from '../support/servers/small-disk.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import type { FaultNeed } from './fault-words.ts';
import { startFleet, type Fleet } from './fleet.ts';

/** What some faults need in addition to a database and the service. */
export interface Extras {
  readonly redis?: { readonly server: RedisServer; readonly proxy: TcpProxy };
  readonly fleet?: Fleet;
  readonly disk?: SmallDisk;
  readonly balancer?: Balancer;
  readonly inspectorPort?: string;
  readonly clock?: FakeClock;
  /** For each process of the service. */
  readonly settings: Settings;
  close(): Promise<void>;
}

/** Mostly for the server's own files. */
const diskMebibytes = 320;

export const openExtras = async (
  needs: FaultNeed | undefined,
  origins: () => readonly string[],
): Promise<Extras> => {
  switch (needs) {
    case undefined:
      return { settings: {}, close: () => Promise.resolve() };
    case 'redis': {
      const server = await startRedis();
      const proxy = await startTcpProxy(server.url);
      const close = () => proxy.stop().then(() => server.stop());
      return { redis: { server, proxy }, settings: { REDIS_URL: proxy.url }, close };
    }
    case 'fleet': {
      const fleet = await startFleet();
      return { fleet, settings: fleet.settings, close: () => fleet.stop() };
    }
    case 'small disk': {
      const disk = await mountSmallDisk(diskMebibytes);
      return { disk, settings: {}, close: () => disk.remove() };
    }
    case 'balancer': {
      const balancer = await startBalancer(origins);
      return { balancer, settings: { DRAIN_SECONDS: '1' }, close: () => balancer.stop() };
    }
    case 'inspector': {
      const inspectorPort = String(await findFreePort());
      const settings = { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` };
      return { inspectorPort, settings, close: () => Promise.resolve() };
    }
    case 'fake clock': {
      const clock = await newFakeClock();
      return { clock, settings: clock.settings, close: () => clock.remove() };
    }
  }
};
