import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** Forwards bytes with a delay, in order even when the delay changes. */
const delayed = (
  delayMs: () => number,
  pass: (bytes: Buffer) => void,
): ((bytes: Buffer) => void) => {
  const waiting: Buffer[] = [];
  const passFirst = () => {
    const bytes = waiting.shift();
    if (bytes) pass(bytes);
  };
  return (bytes) => {
    waiting.push(bytes);
    if (waiting.length === 1 && delayMs() === 0) passFirst();
    // The timer does not keep the process alive; open sockets do.
    else setTimeout(passFirst, delayMs()).unref();
  };
};

/** The proxy's answer in place of the server. */
export interface Refusal {
  /**
   * Matches statements by their text. Statements that are sent together with them do not arrive either. The text of a
   * prepared statement begins with "prepare" or "execute".
   */
  readonly statement: RegExp;
  /** An error number of MySQL or MariaDB. With 0 the server reports success, but nothing is done. */
  readonly errno: number;
  readonly sqlState?: string;
}

export interface MysqlProxy {
  /** The address of the same database through the proxy. */
  readonly url: string;
  /** Answers these statements in place of the server from now on. An empty list ends this. */
  refuse(refusals: readonly Refusal[]): void;
  /** Adds a delay in both directions. */
  slowDown(ms: number): void;
  /**
   * Lets this many statements pass. Then everything is lost, including the next statement or the answer to the last
   * one.
   */
  loseAfter(statements: number, what: 'statement' | 'answer'): void;
  /** Closes the connections that lost something. */
  recover(): void;
  readonly hasLost: boolean;
  /** The statements since the last call, in order of arrival. */
  takeAsked(): readonly string[];
  readonly refused: number;
  stop(): Promise<void>;
}

const commands = { query: 0x03, prepare: 0x16, execute: 0x17 };
const headerBytes = 4;

/** A proxy between the service and a real server that produces rare server faults. */
export const startMysqlProxy = async (url: string): Promise<MysqlProxy> => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const faults = { refusals: [] as readonly Refusal[], refused: 0, delayMs: 0 };
  let losing = { after: Infinity, what: 'statement' };
  let hasLost = false;
  const cutOff = new Set<Socket>();
  let asked: string[] = [];

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
    let isLost = false;
    const prepared = new PreparedTexts();
    const lose = () => {
      hasLost = true;
      cutOff.add(client);
    };
    const [toClient, toServer] = [client, upstream].map((socket) =>
      delayed(
        () => faults.delayMs,
        (bytes) => socket.write(bytes),
      ),
    ) as [(bytes: Buffer) => void, (bytes: Buffer) => void];
    upstream.on('data', (bytes) => {
      prepared.answered(bytes);
      if (isLost) lose();
      else toClient(bytes);
    });
    let pending = Buffer.alloc(0);
    client.on('data', (bytes) => {
      pending = Buffer.concat([pending, bytes]);
      for (let packet = firstPacket(pending); packet; packet = firstPacket(pending)) {
        pending = pending.subarray(packet.length);
        if (losing.after <= 0) isLost = true;
        if (isLost) {
          lose();
          continue;
        }
        const text = prepared.textOf(packet);
        if (isCommand(packet)) {
          asked.push(text);
          losing.after -= 1;
          isLost = losing.after <= 0 && losing.what === 'answer';
        }
        const refusal = faults.refusals.find(({ statement }) =>
          text.split('; ').some((one) => statement.test(one)),
        );
        if (!refusal) toServer(packet);
        else {
          faults.refused += 1;
          if (refusal.errno === 0) toServer(without(packet, refusal.statement));
          else client.write(errorPacket(packet, refusal));
        }
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
    slowDown: (ms) => {
      faults.delayMs = ms;
    },
    loseAfter: (after, what) => {
      losing = { after, what };
      hasLost = false;
    },
    recover: () => {
      losing = { after: Infinity, what: 'statement' };
      for (const socket of cutOff) socket.destroy();
      cutOff.clear();
    },
    get hasLost() {
      return hasLost;
    },
    takeAsked: () => {
      const taken = asked;
      asked = [];
      return taken;
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

/** A packet with the sequence number 0 begins a command; packets of the handshake have higher numbers. */
const isCommand = (packet: Buffer): boolean => packet[3] === 0;

/** The statement of a COM_QUERY; '' for every other packet. */
const textOf = (packet: Buffer): string =>
  commandOf(packet) === commands.query ? packet.toString('utf8', headerBytes + 1) : '';

const commandOf = (packet: Buffer): number | undefined =>
  isCommand(packet) ? packet[headerBytes] : undefined;

class PreparedTexts {
  readonly #texts = new Map<number, string>();
  #asked: string | undefined;

  textOf(packet: Buffer): string {
    const command = commandOf(packet);
    if (command === commands.execute) {
      return `execute ${this.#texts.get(packet.readUInt32LE(headerBytes + 1)) ?? ''}`;
    }
    if (command !== commands.prepare) return textOf(packet);
    this.#asked = packet.toString('utf8', headerBytes + 1);
    return `prepare ${this.#asked}`;
  }

  /** The answer to "prepare" begins with OK and the statement's number. */
  answered(bytes: Buffer): void {
    const isOk = bytes.length > headerBytes + 4 && bytes[headerBytes] === 0;
    if (this.#asked !== undefined && isOk) {
      this.#texts.set(bytes.readUInt32LE(headerBytes + 1), this.#asked);
    }
    this.#asked = undefined;
  }
}

const packetOf = (body: Buffer, sequence: number): Buffer => {
  const header = Buffer.alloc(headerBytes);
  header.writeUIntLE(body.length, 0, 3);
  header.writeUInt8(sequence, 3);
  return Buffer.concat([header, body]);
};

const without = (packet: Buffer, statement: RegExp): Buffer => {
  const parts = textOf(packet).split('; ');
  const left = parts.map((part) => (statement.test(part) ? 'do 0' : part)).join('; ');
  return packetOf(Buffer.concat([Buffer.from([commands.query]), Buffer.from(left)]), 0);
};

/** An ERR_Packet (MySQL client/server protocol) in answer to `packet`. */
const errorPacket = (packet: Buffer, { errno, sqlState = 'HY000' }: Refusal): Buffer => {
  const text = Buffer.from(`#${sqlState}refused by the test`);
  const body = Buffer.concat([Buffer.from([0xff, errno & 0xff, errno >> 8]), text]);
  return packetOf(body, ((packet[3] ?? 0) + 1) & 0xff);
};
