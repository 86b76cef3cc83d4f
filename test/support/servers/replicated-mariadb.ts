import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { neverMs, until } from '../until.ts';
import { documentedSettings } from './documented-settings.ts';
import { startMariaDb, type MariaDb } from './mariadb.ts';

/** A primary, and a replica that can take its place. */
export interface ReplicatedMariaDb {
  readonly primary: () => MariaDb;
  /** The replica applies all that it has received and takes writes; the old primary may be dead. */
  readonly promote: () => Promise<void>;
  /** As `promote`, with the old primary as a replica that is read-only from now on. */
  readonly swap: () => Promise<void>;
  stop(): Promise<void>;
}

/** With them no commit is acknowledged before the replica has received it. */
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
  // It would wait for a replica of its own, and apply nothing.
  await order(replica, 'set global rpl_semi_sync_master_enabled = 0');
  // One that was a primary has written its last transactions itself.
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
