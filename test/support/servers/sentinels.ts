import { Redis } from 'ioredis';
import { until } from '../until.ts';
import { documentedSettings } from './documented-settings.ts';
import { startRedis, type RedisServer } from './redis.ts';

export interface RedisFleet {
  readonly url: string;
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
  /** The server that most sentinels call the primary. */
  readonly primary: () => Promise<RedisServer>;
  readonly move: () => Promise<void>;
  /** Waits until another server is the primary and accepts writes. */
  readonly isReplaced: (old: RedisServer) => Promise<RedisServer>;
  readonly hasReplicas: (count: number) => Promise<void>;
  stop(): Promise<void>;
}

const name = 'animal-store';

const password = 'plain';
/** Each server has a different address. */
const ofTheMachine = /^(?:bind|port|replicaof) /;

const sentinelSettings = (primary: RedisServer): string =>
  [
    ...documentedSettings('sentinel monitor')
      .filter((line) => !ofTheMachine.test(line))
      .map((line) => line.replace('10.0.0.1 6379', `127.0.0.1 ${primary.port}`)),
    `sentinel down-after-milliseconds ${name} 1000`,
    `sentinel failover-timeout ${name} 2000`,
    '',
  ]
    .join('\n')
    .replaceAll('…', password);

const serverArguments = (): readonly string[] => [
  ...documentedSettings('requirepass')
    .filter((line) => !ofTheMachine.test(line))
    .flatMap((line) => `--${line.replace('…', password)}`.split(' ')),
  ...['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'],
];

export const startRedisFleet = async (): Promise<RedisFleet> => {
  const started: RedisServer[] = [];
  const start = async (options: Parameters<typeof startRedis>[0]): Promise<RedisServer> => {
    const server = await startRedis(options);
    started.push(server);
    return server;
  };
  const stop = async (): Promise<void> => {
    for (const server of started.toReversed()) await server.stop();
  };
  try {
    const first = await start({ extraArguments: serverArguments() });
    const replicaOf = ['--replicaof', '127.0.0.1', String(first.port)];
    const replica = () => start({ extraArguments: [...serverArguments(), ...replicaOf] });
    const servers = [first, await replica(), await replica()];
    const sentinel = () => start({ sentinel: sentinelSettings(first) });
    const sentinels = [await sentinel(), await sentinel(), await sentinel()];
    const fleet = fleetOf(servers, sentinels, stop);
    await fleet.hasReplicas(servers.length - 1);
    await until('the sentinels know each other', () => knowEachOther(sentinels));
    return fleet;
  } catch (error) {
    await stop();
    throw error;
  }
};

const fleetOf = (
  servers: readonly RedisServer[],
  sentinels: readonly RedisServer[],
  stop: () => Promise<void>,
): RedisFleet => {
  const primary = async (): Promise<RedisServer> => {
    const named = await Promise.all(sentinels.map(primaryOf));
    const port = named.find((one, at) => one !== undefined && named.indexOf(one) < at);
    const server = servers.find((one) => one.port === port);
    if (!server) throw new Error('the sentinels do not agree on a primary');
    return server;
  };
  return {
    url: `redis+sentinel://:${password}@${sentinels.map(({ port }) => `127.0.0.1:${port}`).join()}/${name}`,
    servers,
    sentinels,
    stop,
    primary,
    move: async () => {
      await ask(sentinels[0]!, ['sentinel', 'failover', name]);
    },
    isReplaced: (old) =>
      until('another server is the primary', async () => {
        const server = await primary().catch(() => old);
        return server !== old && (await takesWrites(server)) && server;
      }),
    hasReplicas: async (count) => {
      const has = async () => (await replicasOf(await primary())) >= count;
      await until(`the primary has ${count} replicas`, () => has().catch(() => false));
    },
  };
};

const ask = async (
  { port }: RedisServer,
  command: readonly string[],
  user: { readonly password?: string } = {},
): Promise<unknown> => {
  const once = { retryStrategy: null, lazyConnect: true, commandTimeout: 1000 };
  const redis = new Redis({ port, ...once, ...user });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const [first = '', ...others] = command;
    return await redis.call(first, ...others);
  } finally {
    redis.disconnect();
  }
};

const primaryOf = async (sentinel: RedisServer): Promise<number | undefined> => {
  const asked = ask(sentinel, ['sentinel', 'get-master-addr-by-name', name]);
  const found = (await asked.catch(() => undefined)) as readonly string[] | undefined;
  return found && Number(found[1]);
};

const takesWrites = (server: RedisServer): Promise<boolean> =>
  ask(server, ['set', 'a test', 'wrote this', 'px', '1'], { password }).then(
    () => true,
    () => false,
  );

const replicasOf = async (server: RedisServer): Promise<number> =>
  String(await ask(server, ['info', 'replication'], { password })).match(/state=online/g)?.length ??
  0;

/** Sentinels that do not know each other cannot agree on a new primary. */
const knowEachOther = async (sentinels: readonly RedisServer[]): Promise<boolean> => {
  const known = await Promise.all(
    sentinels.map((one) => ask(one, ['sentinel', 'ckquorum', name]).catch(String)),
  );
  return known.every((text) => String(text).startsWith(`OK ${sentinels.length} usable`));
};
