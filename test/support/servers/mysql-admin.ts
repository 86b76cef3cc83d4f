import { createConnection, type RowDataPacket } from 'mysql2/promise';

/** An administrator's connection to a server, which bypasses the service and its limits. */
export interface MysqlAdmin {
  readonly order: (sql: string) => Promise<void>;
  /** Kills all connections of a user. */
  readonly killConnectionsOf: (user: string) => Promise<void>;
  readonly connectionsOf: (user: string) => Promise<number>;
  readonly close: () => void;
}

/** @throws Error if the server accepts no connection */
export const connectAsAdmin = async (url: string): Promise<MysqlAdmin> => {
  const connection = await createConnection(url);
  connection.on('error', () => undefined);
  const order = async (sql: string): Promise<void> => {
    await connection.query(sql);
  };
  const connectionsOf = async (user: string): Promise<readonly RowDataPacket[]> => {
    const asked = 'select id from information_schema.processlist where user = ?';
    const [rows] = await connection.query<RowDataPacket[]>(asked, [user]);
    return rows;
  };
  return {
    order,
    connectionsOf: async (user) => (await connectionsOf(user)).length,
    killConnectionsOf: async (user) => {
      // The connection may have ended meanwhile.
      for (const { id } of await connectionsOf(user))
        await order(`kill ${String(id)}`).catch(() => undefined);
    },
    close: () => {
      connection.destroy();
    },
  };
};
