import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** What the proxy answers in place of the server. */
export interface Refusal {
  /** Which statements, by their text. */
  readonly statement: RegExp;
  /** An error number of MySQL or MariaDB; 0 says that all is well, though nothing was done. */
  readonly errno: number;
  readonly sqlState?: string;
}

export interface MysqlProxy {
  /** Of the same database, through the proxy. */
  readonly url: string;
  /** From now on these statements do not reach the server; an empty list lets everything pass. */
  refuse(refusals: readonly Refusal[]): void;
  /** How many statements were refused. */
  readonly refused: number;
  stop(): Promise<void>;
}

const queryCommand = 0x03;
const headerBytes = 4;

/** Stands between the service and a real server, and makes faults that a server makes on bad days only. */
export const startMysqlProxy = async (url: string): Promise<MysqlProxy> => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const faults = { refusals: [] as readonly Refusal[], refused: 0 };

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    upstream.on('data', (bytes) => client.write(bytes));
    let pending = Buffer.alloc(0);
    client.on('data', (bytes) => {
      pending = Buffer.concat([pending, bytes]);
      for (let packet = firstPacket(pending); packet; packet = firstPacket(pending)) {
        pending = pending.subarray(packet.length);
        const refusal = faults.refusals.find(({ statement }) => statement.test(textOf(packet)));
        if (refusal) {
          faults.refused += 1;
          client.write(answerPacket(packet, refusal));
        } else upstream.write(packet);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    refuse: (refusals) => {
      faults.refusals = refusals;
    },
    get refused() {
      return faults.refused;
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
};

const firstPacket = (bytes: Buffer): Buffer | undefined => {
  if (bytes.length < headerBytes) return undefined;
  const length = headerBytes + bytes.readUIntLE(0, 3);
  return bytes.length < length ? undefined : bytes.subarray(0, length);
};

/** The statement of a COM_QUERY; '' for every other packet. */
const textOf = (packet: Buffer): string =>
  packet[3] === 0 && packet[headerBytes] === queryCommand
    ? packet.toString('utf8', headerBytes + 1)
    : '';

const okBody = Buffer.from([0, 0, 0, 2, 0, 0, 0]);

/** An OK_Packet or ERR_Packet (MySQL client/server protocol) in answer to `packet`. */
const answerPacket = (packet: Buffer, { errno, sqlState = 'HY000' }: Refusal): Buffer => {
  const text = Buffer.from(`#${sqlState}refused by the test`);
  const errorBody = Buffer.concat([Buffer.from([0xff, errno & 0xff, errno >> 8]), text]);
  const body = errno === 0 ? okBody : errorBody;
  const header = Buffer.alloc(headerBytes);
  header.writeUIntLE(body.length, 0, 3);
  header.writeUInt8(((packet[3] ?? 0) + 1) & 0xff, 3);
  return Buffer.concat([header, body]);
};
