import { delimiter, join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { neverMs, until } from '../until.ts';
import { documentedSettings } from './documented-settings.ts';
import { startMariaDb, type MariaDb } from './mariadb.ts';
import { findFreePort, unpack } from './debian-server.ts';

export interface ReplicatedMariaDb {
  readonly primary: () => MariaDb;
  /** Makes the replica apply everything that it received and accept writes. The old primary may be dead. */
  readonly promote: () => Promise<void>;
  /** Like `promote`, but keeps the old primary as a read-only replica. */
  readonly swap: () => Promise<void>;
  stop(): Promise<void>;
}

/** With these, no commit is acknowledged before the replica has received it. */
const argumentsOf = (id: number): readonly string[] => [
  ...documentedSettings('rpl_semi_sync').map((line) => `--${line.replaceAll(' ', '')}`),
  `--server-id=${id}`,
  '--slave-net-timeout=5',
];

export const startReplicatedMariaDb = async (): Promise<ReplicatedMariaDb> => {
  const start = (id: number) => startMariaDb({ extraArguments: argumentsOf(id) });
  const [first, second] = await Promise.all([start(1), start(2)]);
  const stop = async (): Promise<void> => {
    await Promise.all([first.stop(), second.stop()]);
  };
  try {
    await order(first, `create user copier@'127.0.0.1' identified by 'plain'`);
    await order(first, `grant replication slave on *.* to copier@'127.0.0.1'`);
    await order(first, 'set global read_only = 0');
    await follow(second, first);
  } catch (error) {
    await stop();
    throw error;
  }
  let [primary, replica] = [first, second];
  const promote = async (): Promise<void> => {
    await order(replica, 'stop slave io_thread');
    await until('the replica has applied all', () => hasAppliedAll(replica));
    await order(replica, 'stop slave');
    await order(replica, 'reset slave all');
    await order(replica, 'set global read_only = 0');
    [primary, replica] = [replica, primary];
  };
  return {
    primary: () => primary,
    promote,
    swap: async () => {
      await order(primary, 'set global read_only = 1');
      await until('the replica has received all', () => hasReceivedAll(replica, primary));
      await promote();
      await follow(replica, primary);
    },
    stop,
  };
};

const follow = async (replica: MariaDb, primary: MariaDb): Promise<void> => {
  await order(replica, 'set global read_only = 1');
  // The promoted replica would wait for a replica, and apply nothing.
  await order(replica, 'set global rpl_semi_sync_master_enabled = 0');
  // A former primary has written its last transactions itself.
  await order(replica, 'set global gtid_slave_pos = @@global.gtid_binlog_pos');
  await order(
    replica,
    `change master to master_host = '127.0.0.1', master_port = ${primary.port}, ` +
      `master_user = 'copier', master_password = 'plain', master_use_gtid = slave_pos, ` +
      'master_connect_retry = 1',
  );
  await order(primary, 'set global rpl_semi_sync_master_enabled = 1');
  await order(replica, 'start slave');
  await until('the primary waits for the replica', () => hasReplica(primary));
};

const order = async ({ url }: MariaDb, sql: string): Promise<RowDataPacket | undefined> => {
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>({ sql, timeout: neverMs });
    return Array.isArray(rows) ? rows[0] : undefined;
  } finally {
    connection.destroy();
  }
};

const hasReplica = async (primary: MariaDb): Promise<boolean> => {
  const row = await order(primary, `show global status like 'Rpl_semi_sync_master_clients'`);
  return row?.['Value'] === '1';
};

const hasAppliedAll = async (replica: MariaDb): Promise<boolean> => {
  const row = await order(replica, 'show slave status');
  if (row?.['Slave_SQL_Running'] !== 'Yes') throw new Error(String(row?.['Last_SQL_Error']));
  return String(row['Slave_SQL_Running_State']).startsWith('Slave has read all relay log');
};

const hasReceivedAll = async (replica: MariaDb, primary: MariaDb): Promise<boolean> => {
  const row = await order(replica, 'show slave status');
  const written = await order(primary, 'select @@gtid_binlog_pos as at');
  return row?.['Gtid_IO_Pos'] === written?.['at'];
};

export interface GaleraCluster {
  readonly nodes: readonly MariaDb[];
  /** Waits until this many nodes are connected, according to the node `at`. */
  readonly hasSize: (at: number, size: number) => Promise<void>;
  stop(): Promise<void>;
}

const size = 3;
// wsrep_sst_rsync copies the first state to a new node. It needs rsync, my_print_defaults and a tool that lists
// sockets.
const packages = 'mariadb-server mariadb-client-core galera-4 rsync libpopt0 libxxhash0 lsof';

/** As root, rsync gives received files to the user `nobody`, so the servers run as that user. */
const nobody = { uid: 65_534, gid: 65_534 };

interface Ports {
  readonly base: number;
  readonly ist: number;
  readonly sst: number;
}

export const startGalera = async (): Promise<GaleraCluster> => {
  const root = await unpack('wsrep_sst_rsync', packages.split(' '));
  const ports: Ports[] = [];
  for (let at = 0; at < size; at++) {
    const [base, ist, sst] = [await findFreePort(), await findFreePort(), await findFreePort()];
    ports.push({ base, ist, sst });
  }
  const nodes: MariaDb[] = [];
  const startNode = (at: number): Promise<MariaDb> =>
    startMariaDb({
      ...(process.getuid?.() === 0 && { runAs: nobody }),
      startsEmpty: at > 0,
      environment: environmentOf(root),
      extraArguments: nodeArguments(root, ports[at]!, at),
      // Only the first start of the first node creates a cluster; later starts join it.
      startArguments: () =>
        nodes.length === 0
          ? ['--wsrep-new-cluster', '--wsrep-cluster-address=gcomm://']
          : [`--wsrep-cluster-address=gcomm://${othersOf(ports, at)}`],
    });
  try {
    for (let at = 0; at < size; at++) nodes.push(await startNode(at));
  } catch (error) {
    await Promise.all(nodes.map((node) => node.stop()));
    throw error;
  }
  return {
    nodes,
    hasSize: async (at, wanted) => {
      await until(
        `the cluster has ${wanted} nodes`,
        async () => (await sizeSeenBy(nodes[at]!).catch(() => 0)) === wanted,
      );
    },
    stop: async () => {
      for (const node of nodes.toReversed()) await node.stop();
    },
  };
};

const othersOf = (ports: readonly Ports[], at: number): string =>
  ports.flatMap(({ base }, other) => (other === at ? [] : [`127.0.0.1:${base}`])).join();

const environmentOf = (root: string): Readonly<Record<string, string>> => ({
  PATH: [join(root, 'usr/bin'), process.env['PATH'] ?? ''].join(delimiter),
});

const nodeArguments = (root: string, { base, ist, sst }: Ports, at: number): readonly string[] => [
  '--wsrep-on=ON',
  `--wsrep-provider=${join(root, 'usr/lib/libgalera_smm.so')}`,
  '--wsrep-cluster-name=animal-store',
  `--wsrep-node-name=node${at + 1}`,
  '--wsrep-node-address=127.0.0.1',
  '--wsrep-sst-method=rsync',
  `--wsrep-sst-receive-address=127.0.0.1:${sst}`,
  `--wsrep-provider-options=${[
    'base_host=127.0.0.1',
    `base_port=${base}`,
    `gmcast.listen_addr=tcp://127.0.0.1:${base}`,
    `ist.recv_addr=127.0.0.1:${ist}`,
    'gcache.size=64M',
  ].join(';')}`,
  '--binlog-format=ROW',
  '--innodb-autoinc-lock-mode=2',
];

const sizeSeenBy = async ({ url }: MariaDb): Promise<number> => {
  const connection = await createConnection(url);
  try {
    const asked = `show global status like 'wsrep_cluster_size'`;
    const [rows] = await connection.query<RowDataPacket[]>({ sql: asked, timeout: 5_000 });
    return Number(rows[0]?.['Value']);
  } finally {
    connection.destroy();
  }
};
