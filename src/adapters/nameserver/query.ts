export type Transport = 'udp' | 'tcp';

interface Header {
  readonly id: number;
  /** Opcode, RD and CD, which the answer repeats (RFC 1035, section 4.1.1; RFC 4035, section 3.1.6). */
  readonly kept: number;
}

interface Extension {
  readonly version: number;
  readonly udpBytes: number;
}

export interface Query extends Header {
  readonly kind: 'query';
  readonly question: Buffer;
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly extension: Extension | undefined;
}

export type Message =
  Query | (Header & { readonly kind: 'malformed' }) | (Header & { readonly kind: 'other_opcode' });

export const headerBytes = 12;
const longestLabel = 63;
const longestName = 255;
const typeOpt = 41;
const response = 0x8000;
const opcode = 0x7800;
const recursionDesiredAndCheckingDisabled = 0x0110;

/** Never throws and follows no compression pointers. @returns undefined for messages that get no answer */
export const readMessage = (message: Buffer): Message | undefined => {
  if (message.length < headerBytes) return undefined;
  const flags = message.readUInt16BE(2);
  if ((flags & response) !== 0) return undefined;
  const kept = flags & (opcode | recursionDesiredAndCheckingDisabled);
  const header = { id: message.readUInt16BE(0), kept };
  if ((flags & opcode) !== 0) return { ...header, kind: 'other_opcode' };
  return readQuery(message, header) ?? { ...header, kind: 'malformed' };
};

/** Reads one question (RFC 9619), then records, which may include one OPT. */
const readQuery = (message: Buffer, header: Header): Query | undefined => {
  const end = endOfName(message, headerBytes);
  if (message.readUInt16BE(4) !== 1 || end === undefined || end + 4 > message.length) {
    return undefined;
  }
  const extensions = readExtensions(message, end + 4);
  if (!extensions || extensions.length > 1) return undefined;
  return {
    ...header,
    kind: 'query',
    question: message.subarray(headerBytes, end + 4),
    // Lower-casing does not change length bytes, because they are smaller than letter codes.
    name: message.toString('latin1', headerBytes, end).toLowerCase(),
    type: message.readUInt16BE(end),
    class: message.readUInt16BE(end + 2),
    extension: extensions[0],
  };
};

/** @param mayPoint whether the name may end with a pointer, which is not followed */
const endOfName = (message: Buffer, start: number, mayPoint = false): number | undefined => {
  for (let at = start; at < message.length && at - start < longestName;) {
    const length = message.readUInt8(at);
    if (mayPoint && length >= 0xc0) return at + 2;
    at += 1 + length;
    if (length === 0) return at;
    if (length > longestLabel) return undefined;
  }
  return undefined;
};

const readExtensions = (message: Buffer, start: number): readonly Extension[] | undefined => {
  const [others, additional] = [countAt(message, 6) + countAt(message, 8), countAt(message, 10)];
  const found: Extension[] = [];
  let at = start;
  for (let n = 0; n < others + additional; n++) {
    const record = endOfName(message, at, true);
    if (record === undefined || record + 10 > message.length) return undefined;
    if (message.readUInt16BE(record) === typeOpt) {
      // OPT belongs to the root (RFC 6891, section 6.1.2).
      if (n < others || record !== at + 1) return undefined;
      found.push(extensionAt(message, record));
    }
    at = record + 10 + message.readUInt16BE(record + 8);
  }
  return at === message.length ? found : undefined;
};

const countAt = (message: Buffer, at: number): number => message.readUInt16BE(at);

const extensionAt = (message: Buffer, record: number): Extension => ({
  udpBytes: message.readUInt16BE(record + 2),
  version: message.readUInt8(record + 5),
});
