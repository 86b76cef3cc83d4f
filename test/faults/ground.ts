import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { startBalancer, type Balancer } from '../support/servers/balancer.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { startRedis, type RedisServer } from '../support/servers/redis.ts';
import {
  type Settings,
  liftLimits,
  newHome,
  printedKey,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import { mountSmallDisk, type SmallDisk } from '../support/servers/small-disk.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { startDns } from '../lab/dns/server.ts';
import { startRedisFleet, type RedisFleet } from '../support/servers/sentinels.ts';
import { startProject, upload } from '../attacks/ground.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { tgzOf } from '../support/sites/archive-bytes.ts';
import type { FaultServers, PlacedDatabase } from './fault-servers.ts';
import type { LoadTarget } from './fault-load.ts';
import { accountLimit } from './load-record.ts';
import { LabZone } from '../lab/dns/lab-zone.ts';
import type { FaultDatabase, FaultNeed, GroundWish } from './fault-words.ts';
import { signInFirst } from '../support/dashboard/visitor.ts';

interface Extras {
  readonly redis?: { readonly server: RedisServer; readonly proxy: TcpProxy };
  readonly fleet?: Fleet;
  readonly disk?: SmallDisk;
  readonly balancer?: Balancer;
  readonly inspectorPort?: string;
  readonly clock?: FakeClock;
  readonly settings: Settings;
  close(): Promise<void>;
}

const diskMebibytes = 320;

const openExtras = async (
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

/**
 * Shared by processes on several machines in addition to the database, and the DNS in which owners create
 * records.
 */
export interface Fleet {
  readonly redis: RedisFleet;
  readonly zone: LabZone;
  readonly edgePorts: readonly number[];
  readonly settings: Settings;
  stop(): Promise<void>;
}

const mostProcesses = 2;
const resolvers = 3;

const startFleet = async (): Promise<Fleet> => {
  const redis = await startRedisFleet();
  const dns = await startDns({}, resolvers);
  const edgePorts = Array.from({ length: mostProcesses }, findFreePort);
  return {
    redis,
    zone: new LabZone(dns, resolvers),
    edgePorts: await Promise.all(edgePorts),
    settings: {
      // On a busy machine, half a second without an answer is not an outage.
      REDIS_URL: `${redis.url}?commandTimeout=5000`,
      DNS_SERVERS: dns.servers.join(','),
    },
    stop: async () => {
      await dns.close();
      await redis.stop();
    },
  };
};

/** Processes of the real service on a real database, with an account without limits and a signed-in person. */
export interface Ground extends LoadTarget, Omit<Extras, 'settings' | 'close'> {
  readonly kind: FaultDatabase;
  readonly database: PlacedDatabase;
  readonly home: Home;
  /** Keyed by seat: a process that ends is replaced on the same port. */
  readonly services: Service[];
  /** Settings of all its processes and commands. */
  readonly settings: Settings;
  readonly facts: StoredFacts;
  /** Starts the process of that seat again and waits until it serves. */
  readonly restart: (seat: number) => Promise<Service>;
  close(): Promise<void>;
}

const common: Settings = {
  SECRET_KEY: 'a secret key that only these faults know',
  LOG_LEVEL: 'error',
  ALLOW_TEST_DOMAINS: '1',
  // No name server answers there, so domains keep their state.
  DNS_SERVERS: '127.0.0.1:9',
};

export const openGround = async (
  kind: FaultDatabase,
  { processes = 1, needs }: GroundWish,
  servers: FaultServers,
): Promise<Ground> => {
  const services: Service[] = [];
  const extras = await openExtras(needs, () => services.map(({ origin }) => origin));
  const database = await servers.place(kind, extras.disk);
  const home = await newHome(database);
  const facts = new StoredFacts(database.directUrl);
  const close = async (): Promise<void> => {
    await facts.close();
    await home.remove();
    await extras.close();
  };
  try {
    const ports = await Promise.all(Array.from({ length: processes }, findFreePort));
    const settings = { ...common, ...extras.settings };
    const start = (seat: number): Promise<Service> =>
      home.start({
        ...settings,
        PORT: String(ports[seat]),
        ...(extras.fleet && { EDGE_HTTPS_PORT: String(extras.fleet.edgePorts[seat]) }),
      });
    for (const seat of ports.keys()) services.push(await start(seat));
    return {
      kind,
      database,
      home,
      settings,
      services,
      facts,
      close,
      ...withoutSettings(extras),
      ...(await furnish(home, services[0]!)),
      origins: () => [extras.balancer?.origin ?? services.map(({ origin }) => origin)].flat(),
      restart: async (seat) => (services[seat] = await start(seat)),
    };
  } catch (error) {
    await close();
    throw error;
  }
};

const withoutSettings = ({ redis, fleet, disk, balancer, inspectorPort, clock }: Extras) => ({
  ...(redis && { redis }),
  ...(fleet && { fleet }),
  ...(disk && { disk }),
  ...(balancer && { balancer }),
  ...(inspectorPort !== undefined && { inspectorPort }),
  ...(clock && { clock }),
});

/** An account without limits, a signed-in person of it, and a project that can have domains. */
const furnish = async (operator: Home, service: Service) => {
  const visitor = await signInFirst(service);
  await liftLimits(operator, service, accountLimit);
  await startProject(visitor, 'Shop');
  await upload(visitor, 'shop', await tgzOf({ name: 'index.html', content: '<h1>Shop</h1>' }));
  return { key: printedKey(service), cookie: visitor.cookie ?? '', slug: 'shop' };
};
