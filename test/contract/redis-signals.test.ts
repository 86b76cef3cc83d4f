import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import pino from 'pino';
import { StoredSignal } from '../../src/kernel/signals.ts';
import { RedisSignals } from '../../src/adapters/redis/redis-signals.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { openContainer } from '../../src/app/container.ts';
import { RedisSignalsKey } from '../../src/app/keys.ts';
import { AccessKey } from '../../src/app/keys.ts';
import { emptyDatabase } from '../support/servers/databases.ts';
import { startRedis, type RedisServer } from '../support/servers/redis.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';

/** A private server, which tests kill. */
let server: RedisServer;
let watcher: Redis;
const open: RedisSignals[] = [];
beforeAll(async () => {
  server = await startRedis();
  watcher = new Redis(server.url).on('error', () => undefined);
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((signals) => signals.close()));
  await until('nobody listens', async () => (await listeners()) === 0);
});
afterAll(async () => {
  watcher.disconnect();
  await server.stop();
});

/** A process of a fleet, and the signals that it received. */
const join = (url = server.url) => {
  const heard: string[][] = [];
  const signals = new RedisSignals(url, {
    self: randomUUID(),
    onHeard: (accountIds) => void heard.push([...accountIds]),
    onProblem: () => undefined,
  });
  open.push(signals);
  return { signals, heard };
};

const joinAndListen = async (url = server.url) => {
  const joined = join(url);
  const before = await listeners();
  joined.signals.listen();
  await until('it listens', async () => (await listeners()) > before);
  return joined;
};

const listeners = async (channel = 'animal-store:stored:0'): Promise<number> => {
  const [, count] = (await watcher.pubsub('NUMSUB', channel)) as [string, number];
  return count;
};

test('all processes except the sender learn which accounts changed, many changes at a time', async () => {
  const [one, other, teller] = [
    await joinAndListen(),
    await joinAndListen(),
    await joinAndListen(),
  ];
  for (const id of ['acc_1', 'acc_2', 'acc_1']) teller.signals.tell([id]);
  for (const { heard } of [one, other]) {
    await until('it is heard', () => heard.length > 0);
    expect(heard).toEqual([['acc_1', 'acc_2']]);
  }
  one.signals.tell(['acc_3']);
  await until('it is heard', () => teller.heard.length > 0);
  expect(teller.heard).toEqual([['acc_3']]);
});

test('a process that closes at once has sent all its signals, even if it never listened', async () => {
  const { heard } = await joinAndListen();
  const { signals } = join();
  signals.tell(['acc_1']);
  await signals.close();
  await until('it is heard', () => heard.length > 0);
  expect(heard).toEqual([['acc_1']]);
});

test.each(['nonsense', '{}', '{"from":"somebody","accountIds":[1]}', '[]'])(
  'a message that is not a signal is ignored: %s',
  async (text) => {
    const { heard } = await joinAndListen();
    await watcher.publish('animal-store:stored:0', text);
    join().signals.tell(['acc_1']);
    await until('the next one is heard', () => heard.length > 0);
    expect(heard).toEqual([['acc_1']]);
  },
);

test('processes on other databases of the server receive nothing', async () => {
  const { heard } = await joinAndListen();
  const stranger = join(`${server.url}/2`);
  stranger.signals.tell(['acc_2']);
  await stranger.signals.close();
  join().signals.tell(['acc_1']);
  await until('the own one is heard', () => heard.length > 0);
  expect(heard).toEqual([['acc_1']]);
});

test('sending and closing do no harm without Redis, and signals arrive again when it is back', async () => {
  const { signals, heard } = await joinAndListen();
  await server.kill();
  const lonely = join();
  lonely.signals.tell(['acc_lost']);
  await lonely.signals.close();
  signals.tell(['acc_lost']);
  const late = join();
  late.signals.listen();
  await server.restart();
  await until('both listen', async () => (await listeners().catch(() => 0)) === 2);
  join().signals.tell(['acc_1']);
  for (const one of [heard, late.heard]) {
    await until('it is heard', () => one.some((ids) => ids.includes('acc_1')));
  }
});

test('dead connections are replaced: signals are received and sent again', async () => {
  const proxy = await startTcpProxy(server.url);
  const cutOff = await joinAndListen(proxy.url);
  const other = await joinAndListen();
  cutOff.signals.tell(['acc_1']);
  await until('it is heard', () => other.heard.length > 0);
  proxy.loseState();
  await until('the others are heard', () => {
    other.signals.tell(['acc_2']);
    return cutOff.heard.flat().includes('acc_2');
  });
  await until('it is heard by others', () => {
    cutOff.signals.tell(['acc_3']);
    return other.heard.flat().includes('acc_3');
  });
  await Promise.all(open.splice(0).map((signals) => signals.close()));
  await proxy.stop();
});

test("a process that starts listening on a dead network receives the others' signals once it recovers", async () => {
  const proxy = await startTcpProxy(server.url);
  proxy.swallowNew(true);
  const { signals, heard } = join(proxy.url);
  signals.listen();
  await until('the first connection is given up', () => proxy.accepted > 1);
  proxy.swallowNew(false);
  const teller = join();
  await until('it is heard', () => {
    teller.signals.tell(['acc_1']);
    return heard.length > 0;
  });
  await Promise.all(open.splice(0).map((one) => one.close()));
  await proxy.stop();
});

test('a process is notified of what another process stores', async () => {
  const database = await emptyDatabase('sqlite');
  const config = loadConfig({
    DATABASE_URL: database.url,
    REDIS_URL: server.url,
    SECRET_KEY: 'a secret key for tests, long enough',
  });
  const log = pino({ level: 'silent' });
  const [here, there] = [await openContainer(config, log), await openContainer(config, log)];
  const heard: string[] = [];
  there.get(StoredSignal).listen((accountIds) => void heard.push(...accountIds));
  there.get(RedisSignalsKey).listen();
  await until('it listens', async () => (await listeners()) === 1);
  const { account } = await here.get(AccessKey).createAccount({
    name: 'Zoo',
    email: 'zoo@animal-store.test',
    plan: 'free',
  });
  await until('it is told', () => heard.includes(account.id));
  await Promise.all([here.unbindAllAsync(), there.unbindAllAsync()]);
  await database.drop();
});
