/** Numbers of RFC 9113, section 6. */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;

export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export interface Frame {
  readonly type: number;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: string;
  /** What the header says, true or not. */
  readonly length?: number;
}

/** One character for each byte. */
export const frame = ({
  type,
  flags: set = 0,
  stream = 0,
  payload = '',
  length,
}: Frame): string => {
  const header = Buffer.alloc(9);
  header.writeUIntBE((length ?? payload.length) & 0xff_ffff, 0, 3);
  header.writeUInt8(type & 0xff, 3);
  header.writeUInt8(set & 0xff, 4);
  header.writeUInt32BE(stream >>> 0, 5);
  return header.toString('latin1') + payload;
};

export const uint32 = (value: number): string =>
  String.fromCharCode((value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);

export const setting = (id: number, value: number): string =>
  String.fromCharCode((id >>> 8) & 255, id & 255) + uint32(value);

/** Literals without Huffman, of which nothing is kept (RFC 7541, section 6.2.2). */
export const headerBlock = (fields: readonly (readonly [string, string])[]): string =>
  fields.map(([name, value]) => `\0${literal(name)}${literal(value)}`).join('');

const literal = (text: string): string => prefixed(text.length) + text;

/** RFC 7541, section 5.1, with seven bits. */
const prefixed = (value: number): string => {
  if (value < 127) return String.fromCharCode(value);
  let rest = value - 127;
  let written = '\x7f';
  for (; rest >= 128; rest = Math.floor(rest / 128))
    written += String.fromCharCode((rest % 128) + 128);
  return written + String.fromCharCode(rest);
};

export interface ReadFrame {
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

/** All that came whole. */
export const readFrames = (bytes: Buffer): readonly ReadFrame[] => {
  const frames: ReadFrame[] = [];
  for (let at = 0; at + 9 <= bytes.length;) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    const [type, set] = [bytes.readUInt8(at + 3), bytes.readUInt8(at + 4)];
    frames.push({ type, flags: set, payload: bytes.subarray(at + 9, end) });
    at = end;
  }
  return frames;
};

/** Of a frame with headers, as nghttp2 writes them: a status of the static table, or its first digit in Huffman. */
export const isServerError = ({ type, payload }: ReadFrame): boolean => {
  if (type !== frameTypes.headers) return false;
  const [first = 0, , digits = 0] = payload.subarray(tableUpdates(payload));
  const isNamedStatus = [0x48, 0x08, 0x18].includes(first);
  return first === 0x8e || (isNamedStatus && digits >> 2 === 0b011011);
};

const tableUpdates = (payload: Buffer): number => {
  const first = payload.findIndex((byte) => byte >> 5 !== 1);
  return Math.max(0, first);
};
