import { setTimeout as delay } from 'node:timers/promises';
import { connectAsAdmin, type MysqlAdmin } from '../support/servers/mysql-admin.ts';
import type { Fault, Scene } from './fault.ts';
import { outage, serverOf } from './outage.ts';
import { unavailable, inProgress } from './fault-words.ts';

const databases = ['mariadb', 'galera'] as const;
const mayAnswer = [...unavailable, ...inProgress];
const recoversWithinMs = 15_000;

const order = (scene: Scene, ...statements: readonly string[]): Promise<void> =>
  serverOf(scene).admin(async (admin) => {
    for (const statement of statements) await admin.order(statement);
  });

const killAll = (scene: Scene): Promise<void> => {
  const { admin, user } = serverOf(scene);
  return admin(({ killConnectionsOf }) => killConnectionsOf(user));
};

const killedConnections: Fault = {
  name: 'connections to the database are killed',
  databases,
  mayAnswer,
  recoversWithinMs,
  strike: async (scene) => {
    for (let round = 0; round < 10; round++) {
      await killAll(scene);
      await delay(scene.orders.random() * 300);
    }
    return {};
  },
};

const readOnly: Fault = {
  name: 'the database server is made read-only',
  databases,
  mayAnswer,
  recoversWithinMs,
  strike: outage({
    away: (scene) => order(scene, 'set global read_only = 1'),
    back: (scene) => order(scene, 'set global read_only = 0'),
    readersSee: ['200'],
  }),
};

/** Limits apply to connections opened after them. */
const fewQueries: Fault = {
  name: 'the database user has used up its queries',
  databases,
  mayAnswer,
  recoversWithinMs,
  strike: outage({
    away: async (scene) => {
      const { user } = serverOf(scene);
      await order(scene, `alter user ${user}@'127.0.0.1' with max_queries_per_hour 100`);
      await killAll(scene);
    },
    back: async (scene) => {
      const { user } = serverOf(scene);
      const lifted = `alter user ${user}@'127.0.0.1' with max_queries_per_hour 0`;
      await order(scene, lifted, 'flush user_resources');
      await killAll(scene);
    },
  }),
};

const fewConnections = (): Fault => {
  /** The first connection was opened before the limit, and lifts it again. */
  const held: MysqlAdmin[] = [];
  const hold = async (url: string): Promise<MysqlAdmin> => {
    const one = await connectAsAdmin(url);
    held.push(one);
    return one;
  };
  const holdAll = async (url: string): Promise<void> => {
    while (await hold(url).catch(() => undefined));
  };
  return {
    name: 'the database server has no free connection',
    databases,
    mayAnswer,
    recoversWithinMs,
    strike: outage({
      away: async (scene) => {
        const { node, user } = serverOf(scene);
        const control = await hold(node.url);
        await control.order('set global max_connections = 10');
        await control.killConnectionsOf(user);
        await holdAll(node.url);
      },
      back: async () => {
        await held[0]?.order('set global max_connections = 200');
        for (const one of held.splice(0)) one.close();
      },
    }),
  };
};

const lockedTable = (): Fault => {
  let holder: MysqlAdmin | undefined;
  return {
    name: 'a table of the database is locked',
    // Galera knows no locks of tables.
    databases: ['mariadb'],
    keyedWriters: 16,
    mayAnswer,
    recoversWithinMs,
    strike: outage({
      away: async (scene) => {
        const { node } = serverOf(scene);
        holder = await connectAsAdmin(node.url);
        const name = new URL(scene.ground.database.directUrl).pathname.slice(1);
        await holder.order(`lock tables ${name}.pets write`);
      },
      back: async () => {
        await holder?.order('unlock tables');
        holder?.close();
      },
      writersSee: [...unavailable, '303'],
      readersSee: ['200', ...unavailable],
      goesOn: (client) => client === '/v1/store/orders',
    }),
  };
};

export const serverLimits: readonly Fault[] = [
  killedConnections,
  readOnly,
  fewQueries,
  fewConnections(),
  lockedTable(),
];
