import { type Chance, hostilePath } from './hostile-text.ts';
import type { BytesCase } from './fuzz-case.ts';

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

interface Frame {
  readonly type: number;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: string;
  /** The length in the header, correct or not. */
  readonly length?: number;
}

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

const uint32 = (value: number): string =>
  String.fromCharCode((value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);

export const setting = (id: number, value: number): string =>
  String.fromCharCode((id >>> 8) & 255, id & 255) + uint32(value);

/** Literals without Huffman coding or indexing (RFC 7541, section 6.2.2). */
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

interface ReadFrame {
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

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

/** nghttp2 writes a status of the static table, or its first digit in Huffman. */
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

/** The answer to the last ping of a case contains this. */
export const lastPing = 'fuzzdone';

type Move = (chance: Chance, stream: number) => readonly Frame[];

/** An HTTP/2 connection with valid and invalid frames in any order. Each case has one dominant kind. */
export const http2Case = (chance: Chance): BytesCase => {
  const [kind, prevailing] = chance.pick(moves);
  const frames = chance.times(chance.between(1, 12), (at) => {
    const stream = chance.oneIn(12) ? chance.below(2 ** 31) : at * 2 + 1;
    const move = chance.oneIn(3) ? chance.pick(moves)[1] : prevailing;
    return move(chance, stream).map(frame).join('');
  });
  const start = chance.oneIn(30) ? chance.bytes(24) : preface;
  return {
    target: 'edge HTTP/2',
    kind,
    port: 'secure edge',
    wants: 'ping',
    tls: { servername: '{{site}}', protocol: 'h2' },
    pieces: [
      // Prevents a status from being looked up in the dynamic table.
      start + frame({ type: frameTypes.settings, payload: setting(1, 0) }),
      ...frames,
      frame({ type: frameTypes.ping, payload: lastPing }),
    ],
    asks: frames.map(() => ({ method: '', path: '' })),
  };
};

const fieldsOf = (chance: Chance): readonly (readonly [string, string])[] => [
  [':method', chance.pick(['GET', 'GET', 'HEAD', 'POST', 'CONNECT', chance.bytes(3)])],
  [':path', chance.oneIn(2) ? '/' : hostilePath(chance, '/')],
  [':scheme', chance.pick(['https', 'https', 'http', ''])],
  [
    ':authority',
    chance.pick(['birds.sites.animal-store.test', 'other.test', '', 'a b', 'x'.repeat(3000)]),
  ],
];

const request: Move = (chance, stream) => [
  {
    type: frameTypes.headers,
    flags: flags.endHeaders | (chance.oneIn(4) ? 0 : flags.endStream),
    stream,
    payload: headerBlock(fieldsOf(chance)),
  },
];

const moves = Object.entries({
  requests: request,
  'odd headers': (chance, stream) => {
    const field = chance.pick<readonly [string, string]>([
      [':status', '200'],
      [':path', '/'],
      ['Upper', 'x'],
      ['connection', 'close'],
      ['transfer-encoding', 'chunked'],
      ['content-length', chance.pick(['5', '-1', 'x'])],
      ['te', 'x'],
      ['', ''],
      ['host', 'other.test'],
      ['cookie', 'x=y; '.repeat(chance.size(3000))],
      [chance.bytes(5), chance.bytes(20)],
      ['x', 'x'.repeat(chance.size(30_000))],
    ]);
    const all = chance.times(chance.pick([1, 1, 2, 120]), () => field);
    const payload = headerBlock([...fieldsOf(chance).slice(chance.below(2)), ...all]);
    return [
      { type: frameTypes.headers, flags: flags.endHeaders | flags.endStream, stream, payload },
    ];
  },
  'headers that cannot be unpacked': (chance, stream) => [
    { type: frameTypes.headers, flags: 5, stream, payload: chance.bytes(chance.size(400)) },
  ],
  CONTINUATION: (chance, stream) => [
    {
      type: frameTypes.headers,
      flags: flags.endStream,
      stream,
      payload: headerBlock(fieldsOf(chance)),
    },
    ...chance.times(chance.size(400), () => ({
      type: frameTypes.continuation,
      stream: chance.oneIn(20) ? stream + 2 : stream,
      payload: chance.oneIn(2) ? '' : headerBlock([['x', 'x'.repeat(chance.size(500))]]),
    })),
    { type: frameTypes.continuation, flags: chance.pick([0, flags.endHeaders]), stream },
  ],
  'streams that are reset': (chance, stream) =>
    chance
      .times(chance.size(300), (at) => stream + at * 2)
      .flatMap((each) => [
        ...request(chance, each),
        { type: frameTypes.reset, stream: each, payload: uint32(chance.below(14)) },
      ]),
  SETTINGS: (chance) =>
    chance.times(chance.size(500), () => ({
      type: frameTypes.settings,
      payload: chance
        .times(chance.between(0, 4), () =>
          setting(
            chance.below(9),
            chance.pick([0, 1, 65_535, 2 ** 31 - 1, 2 ** 32 - 1, chance.below(2 ** 32)]),
          ),
        )
        .join(''),
      ...(chance.oneIn(10) && { flags: flags.ack }),
      ...(chance.oneIn(20) && { stream: 1 }),
    })),
  'a window update of zero': (chance, stream) => [
    { type: frameTypes.settings, payload: setting(4, 0) },
    ...request(chance, stream),
    {
      type: frameTypes.windowUpdate,
      stream: chance.pick([0, stream]),
      payload: uint32(chance.pick([0, 1, 2 ** 31 - 1])),
    },
  ],
  'pings and priorities': (chance, stream) =>
    chance.times(chance.size(500), () =>
      chance.oneIn(2)
        ? {
            type: frameTypes.ping,
            flags: chance.below(2),
            payload: chance.bytes(chance.oneIn(30) ? 7 : 8),
          }
        : {
            type: frameTypes.priority,
            stream,
            payload: uint32(chance.pick([0, stream, 1])) + '\x10',
          },
    ),
  'unexpected data': (chance, stream) => [
    ...(chance.oneIn(2) ? request(chance, stream) : []),
    ...chance.times(chance.size(30), () => ({
      type: frameTypes.data,
      stream,
      flags: chance.pick([0, 0, 1, 8, 9]),
      payload: chance.bytes(chance.size(2000)),
    })),
  ],
  'random frames': (chance) =>
    chance.times(chance.between(1, 20), () => ({
      type: chance.below(16),
      flags: chance.below(256),
      stream: chance.pick([0, 1, 2, 3, 2 ** 32 - 1]),
      payload: chance.bytes(chance.size(300)),
      ...(chance.oneIn(8) && { length: chance.pick([0, 16_385, 0xff_ffff, chance.below(100)]) }),
    })),
} satisfies Record<string, Move>);
