import { randomBytes } from 'node:crypto';
import { emptyDatabase, type TestDatabase } from '../support/servers/databases.ts';
import {
  startGalera,
  type GaleraCluster,
  startReplicatedMariaDb,
  type ReplicatedMariaDb,
} from '../support/servers/replicated-mariadb.ts';
import { createDatabase, startMariaDb, type MariaDb } from '../support/servers/mariadb.ts';
import { connectAsAdmin, type MysqlAdmin } from '../support/servers/mysql-admin.ts';
import type { SmallDisk } from '../support/servers/small-disk.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import type { FaultDatabase } from './fault-words.ts';

/** A MySQL or MariaDB server that a fault can stop or change. */
export interface FaultServer {
  /** The address of the one server, or of the node that takes the writes. */
  readonly node: MariaDb;
  readonly cluster?: GaleraCluster;
  readonly pair?: ReplicatedMariaDb;
  readonly proxy: TcpProxy;
  /** Leads new connections there. Open connections stay until they are cut. */
  readonly lead: (node: MariaDb) => void;
  /** The user that the service signs in as, with the rights that docs/databases.md asks for. */
  readonly user: string;
  readonly admin: (work: (admin: MysqlAdmin) => Promise<void>) => Promise<void>;
}

export interface PlacedDatabase extends TestDatabase {
  /** Bypasses the proxy, as the administrator, to inspect the data from outside. */
  readonly directUrl: string;
  readonly server?: FaultServer;
}

const rights = 'select, insert, update, delete, create, alter, drop, index, references';

/** Database servers of one run: each starts when it is first needed and ends with the run. */
export class FaultServers {
  #mariadb: Promise<MariaDb> | undefined;
  #galera: Promise<GaleraCluster> | undefined;
  #pair: Promise<ReplicatedMariaDb> | undefined;

  /** An empty database of that kind, on the given disk if any. */
  async place(kind: FaultDatabase, disk?: SmallDisk): Promise<PlacedDatabase> {
    if (kind === 'sqlite') {
      const given = disk && {
        url: `sqlite:${disk.folder}/store.db`,
        drop: () => Promise.resolve(),
      };
      const database = given ?? (await emptyDatabase('sqlite'));
      return { ...database, directUrl: database.url };
    }
    if (disk) return onServerOfItsOwn(disk);
    if (kind === 'mariadb') return onServer(await (this.#mariadb ??= startMariaDb()));
    if (kind === 'replicated') {
      const pair = await (this.#pair ??= startReplicatedMariaDb());
      return onServer(pair.primary(), { pair });
    }
    const cluster = await (this.#galera ??= startGalera());
    return onServer(cluster.nodes[0]!, { cluster });
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#mariadb?.then((server) => server.stop()),
      this.#galera?.then((cluster) => cluster.stop()),
      this.#pair?.then((pair) => pair.stop()),
    ]);
  }
}

const onServerOfItsOwn = async ({ folder }: SmallDisk): Promise<PlacedDatabase> => {
  const server = await startMariaDb({ place: folder });
  const placed = await onServer(server);
  return {
    ...placed,
    drop: async () => {
      await placed.drop();
      await server.stop();
    },
  };
};

/** An empty database on that server, with a user and a proxy for it. */
const onServer = async (
  node: MariaDb,
  others: Pick<FaultServer, 'cluster' | 'pair'> = {},
): Promise<PlacedDatabase> => {
  const database = await createDatabase(node.url);
  const name = new URL(database.url).pathname.slice(1);
  const user = `store_${randomBytes(4).toString('hex')}`;
  const admin: FaultServer['admin'] = async (work) => {
    const connection = await connectAsAdmin(`${node.url}/${name}`);
    await work(connection).finally(() => {
      connection.close();
    });
  };
  await admin(async ({ order }) => {
    await order(`create user ${user}@'127.0.0.1' identified by 'plain'`);
    await order(`grant ${rights} on ${name}.* to ${user}@'127.0.0.1'`);
  });
  const [proxy, direct] = [await startTcpProxy(node.url), await startTcpProxy(node.url)];
  const lead = (next: MariaDb): void => {
    for (const one of [proxy, direct]) one.leadTo(next.url);
    direct.cut();
  };
  const url = Object.assign(new URL(proxy.url), {
    username: user,
    password: 'plain',
    pathname: `/${name}`,
  }).href;
  return {
    url,
    directUrl: Object.assign(new URL(database.url), { port: new URL(direct.url).port }).href,
    server: { node, ...others, proxy, lead, user, admin },
    drop: async () => {
      await Promise.all([proxy.stop(), direct.stop()]);
      // A server that was replaced may be dead.
      if (!others.pair) await database.drop();
    },
  };
};
