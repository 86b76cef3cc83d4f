import { startProject, upload } from '../attacks/ground.ts';
import { signInFirst } from '../support/dashboard/process.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import {
  liftLimits,
  newHome,
  printedKey,
  type Home,
  type Service,
  type Settings,
} from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { tgzOf } from '../support/sites/tar-bytes.ts';
import type { FaultDatabase, GroundWish } from './fault-words.ts';
import type { FaultServers, PlacedDatabase } from './fault-servers.ts';
import type { LoadTarget } from './fault-load.ts';
import { openExtras, type Extras } from './ground-extras.ts';
import { accountLimit } from './load-record.ts';

/** Processes of the real service on a real database, with an account without limits and a signed-in person. */
export interface Ground extends LoadTarget, Omit<Extras, 'settings' | 'close'> {
  readonly kind: FaultDatabase;
  readonly database: PlacedDatabase;
  readonly home: Home;
  /** By seat: a process that ends is replaced on the same port. */
  readonly services: Service[];
  /** Of its processes and of commands, but for what is different in each. */
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
      ...{ kind, database, home, settings, services, facts, close },
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
