import { createSocket, type Socket as Datagrams } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { plainName, type RecordType } from './zone.ts';

/** A fault of a query, for the first `times` times or always. */
export interface DnsFault {
  readonly rcode?: 'FORMERR' | 'SERVFAIL' | 'NXDOMAIN' | 'NOTIMP' | 'REFUSED';
  /** There is no answer. */
  readonly drop?: boolean;
  readonly delayMs?: number;
  /** Over UDP the answer is empty and truncated; over TCP it is complete. */
  readonly truncate?: boolean;
  /** The answer has the id of another query. */
  readonly badId?: boolean;
  /** Sends these bytes instead of the zone's answer; nothing if there are none. */
  readonly raw?: (query: Buffer, transport: Transport) => Buffer | undefined;
  /** Applies only to these types. */
  readonly types?: readonly RecordType[];
  readonly times?: number;
}

/** An exact name, `*.suffix` for all names below it, or `*` for all names. The closest one applies. */
export type DnsFaults = Readonly<Record<string, DnsFault>>;

export class FaultList {
  readonly #faults: ReadonlyMap<string, { readonly fault: DnsFault; left: number }>;

  constructor(faults: DnsFaults) {
    this.#faults = new Map(
      Object.entries(faults).map(([name, fault]) => [
        plainName(name),
        { fault, left: fault.times ?? Infinity },
      ]),
    );
  }

  take(name: string, type: string): DnsFault {
    const labels = plainName(name).split('.');
    const suffixes = labels.map((_, at) => ['*', ...labels.slice(at + 1)].join('.'));
    for (const pattern of [plainName(name), ...suffixes]) {
      const entry = this.#faults.get(pattern);
      if (!entry || entry.left === 0 || !applies(entry.fault, type)) continue;
      entry.left -= 1;
      return entry.fault;
    }
    return {};
  }
}

const applies = ({ types }: DnsFault, type: string): boolean =>
  types === undefined || types.some((its) => its === type);

export type Transport = 'udp' | 'tcp';

/** @returns the answer, if there is one; never rejects */
export type Answerer = (
  host: number,
  transport: Transport,
  message: Buffer,
) => Promise<Buffer | undefined>;

interface DnsSockets {
  readonly port: number;
  close(): Promise<void>;
}

/** Opens UDP and TCP on the same free port of all hosts. */
export const listenForDns = async (
  hosts: readonly string[],
  answer: Answerer,
): Promise<DnsSockets> => {
  for (let left = 20; ; left--) {
    const opened: Closable[] = [];
    const close = async (): Promise<void> => {
      await Promise.all(opened.map((each) => each.close()));
    };
    try {
      let port = 0;
      for (const [index, host] of hosts.entries()) {
        const udp = await openUdp(host, port, (message) => answer(index, 'udp', message));
        opened.push(udp);
        port = udp.port;
        opened.push(await openTcp(host, port, (message) => answer(index, 'tcp', message)));
      }
      return { port, close };
    } catch (error) {
      // The port may be taken on the next host or transport.
      await close();
      if (left === 0) throw error;
    }
  }
};

interface Closable {
  close(): Promise<void>;
}

type Answer = (message: Buffer) => Promise<Buffer | undefined>;

/** In bytes. Buffers concurrent queries of a test until this process has time for them. */
const manyQuestions = 2_000_000;

const openUdp = async (
  host: string,
  port: number,
  answer: Answer,
): Promise<Closable & { readonly port: number }> => {
  const socket: Datagrams = createSocket({ type: 'udp4', recvBufferSize: manyQuestions });
  let open = true;
  socket.on('message', (message, peer) => {
    void answer(message).then((reply) => {
      if (reply && open) socket.send(reply, peer.port, peer.address, () => undefined);
    });
  });
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    close: async () => {
      open = false;
      await new Promise<void>((done) => socket.close(done));
    },
  };
};

const openTcp = async (host: string, port: number, answer: Answer): Promise<Closable> => {
  const connections = new Set<Socket>();
  const server: Server = createServer((socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket)).on('error', () => undefined);
    let unread = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      for (let end = messageEnd(unread); end <= unread.length; end = messageEnd(unread)) {
        void answer(unread.subarray(2, end)).then((reply) => reply && socket.write(reply));
        unread = unread.subarray(end);
      }
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    close: async () => {
      for (const socket of connections) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
};

/** Over TCP each message has a length prefix (RFC 1035, section 4.2.2). */
const messageEnd = (bytes: Buffer): number =>
  bytes.length < 2 ? Infinity : 2 + bytes.readUInt16BE(0);
