export type Transport = 'udp' | 'tcp';

/** What can be said of every message that has a header (RFC 1035, section 4.1.1). */
interface Header {
  readonly id: number;
  /** Opcode, RD and CD, which an answer repeats (RFC 1035, section 4.1.1; RFC 4035, section 3.1.6). */
  readonly kept: number;
}

/** EDNS(0) (RFC 6891). */
interface Extension {
  readonly version: number;
  /** The largest answer over UDP that the asker takes. */
  readonly udpBytes: number;
}

export interface Query extends Header {
  readonly kind: 'query';
  /** The bytes of the question as they came: an answer repeats them, with the case of every letter. */
  readonly question: Buffer;
  /** On the wire, in lower case: one character for each byte. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly extension: Extension | undefined;
}

export type Message =
  | Query
  /** It has no question, or several, or does not end where it says. */
  | (Header & { readonly kind: 'malformed' })
  | (Header & { readonly kind: 'other_opcode' });

export const headerBytes = 12;
const longestLabel = 63;
const longestName = 255;
const typeOpt = 41;
const response = 0x8000;
const opcode = 0x7800;
const recursionDesiredAndCheckingDisabled = 0x0110;

/**
 * Never throws, and follows no compression pointer.
 * @returns undefined for what gets no answer: less than a header, or an answer, which could go on for ever
 */
export const readMessage = (message: Buffer): Message | undefined => {
  if (message.length < headerBytes) return undefined;
  const flags = message.readUInt16BE(2);
  if ((flags & response) !== 0) return undefined;
  const kept = flags & (opcode | recursionDesiredAndCheckingDisabled);
  const header = { id: message.readUInt16BE(0), kept };
  if ((flags & opcode) !== 0) return { ...header, kind: 'other_opcode' };
  return readQuery(message, header) ?? { ...header, kind: 'malformed' };
};

/** One question (RFC 9619), then any records, of which one may be the extension. */
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
    // The length of a label is below the codes of letters, so it stays as it is.
    name: message.toString('latin1', headerBytes, end).toLowerCase(),
    type: message.readUInt16BE(end),
    class: message.readUInt16BE(end + 2),
    extension: extensions[0],
  };
};

/** @returns undefined if a label is too long, a pointer, or not all there */
const endOfName = (message: Buffer, start: number): number | undefined => {
  for (let at = start; at < message.length && at - start < longestName;) {
    const length = message.readUInt8(at);
    at += 1 + length;
    if (length === 0) return at;
    if (length > longestLabel) return undefined;
  }
  return undefined;
};

/** @returns undefined if the records do not end where the message ends */
const readExtensions = (message: Buffer, start: number): readonly Extension[] | undefined => {
  const [others, additional] = [countAt(message, 6) + countAt(message, 8), countAt(message, 10)];
  const found: Extension[] = [];
  let at = start;
  for (let n = 0; n < others + additional; n++) {
    const record = endOfOwner(message, at);
    if (record === undefined || record + 10 > message.length) return undefined;
    if (message.readUInt16BE(record) === typeOpt) {
      // Its owner is the root (RFC 6891, section 6.1.2).
      if (n < others || record !== at + 1) return undefined;
      found.push(extensionAt(message, record));
    }
    at = record + 10 + message.readUInt16BE(record + 8);
  }
  return at === message.length ? found : undefined;
};

const countAt = (message: Buffer, at: number): number => message.readUInt16BE(at);

/** Unlike in the question, a name may end with a pointer here, which nobody follows. */
const endOfOwner = (message: Buffer, start: number): number | undefined => {
  for (let at = start; at < message.length && at - start < longestName;) {
    const length = message.readUInt8(at);
    if (length >= 0xc0) return at + 2;
    at += 1 + length;
    if (length === 0) return at;
    if (length > longestLabel) return undefined;
  }
  return undefined;
};

const extensionAt = (message: Buffer, record: number): Extension => ({
  udpBytes: message.readUInt16BE(record + 2),
  version: message.readUInt8(record + 5),
});
