import { isIP, isIPv6, connect } from 'node:net';
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { on, once } from 'node:events';
import {
  AUTHENTIC_DATA,
  CHECKING_DISABLED,
  decode,
  encode,
  RECURSION_DESIRED,
  type Answer,
  type CaaData,
  type DecodedPacket,
  type RecordType,
} from 'dns-packet';
import {
  largestAnswer,
  type CaaRecord,
  type DnsAnswer,
  type DnsFailure,
  type ExtendedError,
  type UncheckedAnswer,
} from '../../domains/domain/dns/facts.ts';

export interface ServerAddress {
  readonly ip: string;
  readonly port: number;
}

const written = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[^:[\]]+))(?::(?<port>\d{1,5}))?$/;

/** Parses an address; the default port is 53. @throws Error for host names and invalid ports; node:dns accepts them */
export const parseServer = (text: string): ServerAddress => {
  const groups = written.exec(text)?.groups;
  const ip = isIPv6(text) ? text : (groups?.['v6'] ?? groups?.['v4'] ?? '');
  const port = Number(groups?.['port'] ?? 53);
  const isRight = groups?.['v6'] === undefined ? isIP(ip) !== 0 : isIPv6(ip);
  if (!isRight || port < 1 || port > 65_535) {
    throw new Error(`${text} is not the address of a DNS server: ip, ip:port or [ipv6]:port`);
  }
  return { ip, port };
};

export const showServer = ({ ip, port }: ServerAddress): string =>
  `${isIPv6(ip) ? `[${ip}]` : ip}:${port}`;

export const nameServer = (server: ServerAddress): string =>
  server.port === 53 ? server.ip : showServer(server);

/**
 * Reads CAA records from the raw message. node:dns cannot: an empty value (`issuewild ""`) turns the whole answer
 * into EBADRESP, a tag named `critical` overrides the flags, and values end at the first NUL.
 */
export const askCaa = async (
  server: ServerAddress,
  name: string,
  signal: AbortSignal,
): Promise<DnsAnswer<CaaRecord>> => {
  if (!canBeAsked(name)) return malformed;
  try {
    const message = await exchange(server, queryFor({ type: 'CAA', name }), signal);
    const answer = read(message);
    return answer.kind !== 'failed' && isAuthentic(message)
      ? { ...answer, isAuthentic: true }
      : answer;
  } catch {
    return { kind: 'failed', reason: signal.aborted ? 'timeout' : 'unreachable' };
  }
};

const malformed = { kind: 'failed', reason: 'malformed' } as const;

const read = (message: Buffer): DnsAnswer<CaaRecord> => {
  const rcode = rcodeOf(message);
  if (rcode === rcodes.noSuchName) return { kind: 'no_such_name' };
  if (rcode !== rcodes.noError) return { kind: 'failed', reason: failures[rcode] ?? 'malformed' };
  if (hasTooMany(message)) return { kind: 'failed', reason: 'too_large' };
  const answers = decoded(message)?.answers?.filter((answer) => answer.type !== 'OPT');
  if (!answers) return malformed;
  const records = answers
    .filter((answer) => answer.type === 'CAA')
    .map(({ data }) => toRecord(data));
  if (!records.every(isWhole)) return malformed;
  if (records.length === 0) return { kind: 'none' };
  return { kind: 'records', records, ttl: Math.min(...answers.map(({ ttl = 0 }) => ttl)) };
};

const toRecord = ({ flags = 0, tag, value }: CaaData): CaaRecord => ({ flags, tag, value });

/** Checks that the tag is printable: a tag that is longer than its record contains bytes of the next record. */
const isWhole = ({ tag }: CaaRecord): boolean => /^[\x21-\x7e]+$/.test(tag);

/** Repeats a question that failed with SERVFAIL. @returns undefined unless only the validated question fails */
export const askUnchecked = async (
  server: ServerAddress,
  { type, name }: WireQuestion,
  signal: AbortSignal,
): Promise<UncheckedAnswer | undefined> => {
  if (!canBeAsked(name)) return undefined;
  const ask = (isUnchecked: boolean) =>
    exchange(server, queryFor({ type, name, isUnchecked }), signal);
  const unchecked = rcodeOf(await ask(true));
  if (unchecked !== rcodes.noError && unchecked !== rcodes.noSuchName) return undefined;
  const checked = await ask(false);
  if (rcodeOf(checked) !== rcodes.serverFailure) return undefined;
  return { question: `${type} ${name}`, errors: extendedErrors(checked) };
};

const extendedError = 15;
interface Option {
  readonly code: number;
  readonly data?: Buffer | undefined;
}

const most = { errors: 4, characters: 160 } as const;

const extendedErrors = (message: Buffer): readonly ExtendedError[] =>
  (decoded(message)?.additionals ?? [])
    .flatMap((record): readonly Option[] => (record.type === 'OPT' ? record.options : []))
    .flatMap(({ code, data }) =>
      code === extendedError && data && data.length >= 2
        ? [{ code: data.readUInt16BE(0), text: shownText(data.subarray(2)) }]
        : [],
    )
    .slice(0, most.errors);

/** Cleans and shortens the text, because anyone can write it and it is shown to users. */
const shownText = (bytes: Buffer): string => {
  const text = bytes.subarray(0, 4 * most.characters).toString('utf8');
  return [...text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim()].slice(0, most.characters).join('');
};

export interface WireQuestion {
  readonly type: RecordType;
  readonly name: string;
  readonly isUnchecked?: boolean;
}

/** Asks for DNSSEC validation (RFC 6840, section 5.7) unless `isUnchecked`. */
export const queryFor = ({ type, name, isUnchecked = false }: WireQuestion): Buffer =>
  encode({
    type: 'query',
    id: randomInt(0x1_0000),
    flags: RECURSION_DESIRED | AUTHENTIC_DATA | (isUnchecked ? CHECKING_DISABLED : 0),
    questions: [{ type, name }],
    additionals: [extension],
  });

/** RFC 1035, section 3.1. A longer name cannot exist. */
export const longestName = 253;

export const canBeAsked = (name: string): boolean =>
  name.length <= longestName && name.split('.').every((label) => /^[\x21-\x7e]{1,63}$/.test(label));

/** Allows UDP answers of up to 1232 bytes, which no network fragments (RFC 6891). */
const extension: Answer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

export const rcodes = { noError: 0, serverFailure: 2, noSuchName: 3 } as const;

export const rcodeOf = (message: Buffer): number => message.readUInt8(3) & 0x0f;

const failures: Partial<Record<number, DnsFailure>> = {
  2: 'servfail',
  4: 'refused',
  5: 'refused',
};

const isAuthentic = (message: Buffer): boolean => (message.readUInt8(3) & 0x20) !== 0;

const otherRecords = 100;

/** Reads only the header's counts: decoding thousands of compressed names would take 250 ms. */
const hasTooMany = (message: Buffer): boolean =>
  [4, 6, 8, 10].reduce((sum, at) => sum + message.readUInt16BE(at), 0) >
  largestAnswer.records + otherRecords;

export const decoded = (message: Buffer): DecodedPacket | undefined => {
  try {
    return hasTooMany(message) ? undefined : decode(message);
  } catch {
    return undefined;
  }
};

/** Asks over UDP, and over TCP if the answer was truncated (RFC 7766). @throws the signal's or the socket's error */
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
    // A connected socket reports a closed port and accepts only this sender.
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

/** Reads the length from the first two bytes, so that at most 64 KiB are buffered. */
const endOfFirst = (read: Buffer): number =>
  read.length < 2 ? Infinity : 2 + read.readUInt16BE(0);

const uint16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
};

const headerBytes = 12;

const isCut = (message: Buffer): boolean => (message.readUInt8(2) & 0x02) !== 0;

/** Checks that an answer repeats the query's id and question (RFC 5452, section 9.1). */
const belongs = (message: Buffer, query: Buffer): boolean => {
  const end = questionEnd(query);
  const isReply = message.length >= end && (message.readUInt8(2) & 0x80) !== 0;
  return (
    isReply &&
    message.readUInt16BE(0) === query.readUInt16BE(0) &&
    message.subarray(headerBytes, end).equals(query.subarray(headerBytes, end))
  );
};

const questionEnd = (query: Buffer): number => {
  let at = headerBytes;
  while (query.readUInt8(at) !== 0) at += 1 + query.readUInt8(at);
  return at + 5;
};
