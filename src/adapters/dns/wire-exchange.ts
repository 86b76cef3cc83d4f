import { createSocket } from 'node:dgram';
import { on, once } from 'node:events';
import { connect, isIPv6 } from 'node:net';
import type { ServerAddress } from './server-address.ts';

/**
 * Sends one DNS message and returns the answer: over UDP, and again over TCP if that was truncated (RFC 7766). Ignores
 * messages that do not match the question.
 * @throws the signal's reason, or the socket's error
 */
export const exchange = async (
  server: ServerAddress,
  query: Buffer,
  signal: AbortSignal,
): Promise<Buffer> => {
  const reply = await overUdp(server, query, signal);
  return isCut(reply) ? overTcp(server, query, signal) : reply;
};

const overUdp = async (
  { ip, port }: ServerAddress,
  query: Buffer,
  signal: AbortSignal,
): Promise<Buffer> => {
  const socket = createSocket(isIPv6(ip) ? 'udp6' : 'udp4');
  try {
    // A connected socket reports a closed port, and receives from no other address.
    socket.connect(port, ip);
    await once(socket, 'connect', { signal });
    const messages = on(socket, 'message', { signal });
    socket.send(query);
    for await (const [message] of messages as AsyncIterable<[Buffer]>) {
      if (belongs(message, query)) return message;
    }
    throw new Error('the socket was closed');
  } finally {
    socket.close();
  }
};

const overTcp = async (
  { ip, port }: ServerAddress,
  query: Buffer,
  signal: AbortSignal,
): Promise<Buffer> => {
  const socket = connect({ host: ip, port, signal });
  try {
    socket.write(Buffer.concat([uint16(query.length), query]));
    let read = Buffer.alloc(0);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      read = Buffer.concat([read, chunk]);
      for (let end = endOfFirst(read); read.length >= end; end = endOfFirst(read)) {
        const message = read.subarray(2, end);
        if (belongs(message, query)) return message;
        read = read.subarray(end);
      }
    }
    throw new Error('the connection was closed');
  } finally {
    socket.destroy();
  }
};

/** Of the first message, which says its length in two bytes: never more than 64 KiB wait to be whole. */
const endOfFirst = (read: Buffer): number =>
  read.length < 2 ? Infinity : 2 + read.readUInt16BE(0);

const uint16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
};

const headerBytes = 12;

const isCut = (message: Buffer): boolean => (message.readUInt8(2) & 0x02) !== 0;

/** An answer repeats the id and the question of its query (RFC 5452, section 9.1). */
const belongs = (message: Buffer, query: Buffer): boolean => {
  const end = questionEnd(query);
  const isReply = message.length >= end && (message.readUInt8(2) & 0x80) !== 0;
  return (
    isReply &&
    message.readUInt16BE(0) === query.readUInt16BE(0) &&
    message.subarray(headerBytes, end).equals(query.subarray(headerBytes, end))
  );
};

/** Where the only question ends: its labels, the empty one, type and class. */
const questionEnd = (query: Buffer): number => {
  let at = headerBytes;
  while (query.readUInt8(at) !== 0) at += 1 + query.readUInt8(at);
  return at + 5;
};
