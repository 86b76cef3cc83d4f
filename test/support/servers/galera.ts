import { delimiter, join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { findFreePort, unpack } from './debian-server.ts';
import { startMariaDb, type MariaDb } from './mariadb.ts';
import { until } from '../until.ts';

/** A Galera cluster of three MariaDB servers. */
export interface GaleraCluster {
  readonly nodes: readonly MariaDb[];
  /** Returns when that many nodes are connected, according to the one at `at`. */
  readonly hasSize: (at: number, size: number) => Promise<void>;
  stop(): Promise<void>;
}

const size = 3;
// wsrep_sst_rsync brings a new node its first state: it asks for rsync, my_print_defaults and a tool that lists sockets.
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
      // Only the first start of the first node begins a cluster; every other one looks for it.
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
