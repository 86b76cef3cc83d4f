import { decode } from 'dns-packet';
import type { Responder } from '../../src/adapters/nameserver/responder.ts';
import {
  edns,
  newResponder,
  question,
  tokenOf,
  zoneName,
} from '../support/nameserver/known-zone.ts';
import { Chance } from './hostile-text.ts';

/** No network cuts these; see record 76 in docs/decisions/domains.md. */
const largestDatagram = 1232;
const plainDatagram = 512;
const headerBytes = 12;

export interface PacketFinding {
  readonly what: string;
  readonly packet: string;
}

export interface PacketTally {
  answered: number;
  ignored: number;
  truncated: number;
  readonly codes: Map<number, number>;
}

/** Sends packets of any form to a name server. @returns what is wrong with the first bad answer, if anything */
export const fuzzPackets = async (
  seed: number,
  packets: number,
): Promise<{ readonly finding: PacketFinding | undefined; readonly tally: PacketTally }> => {
  const responder = newResponder();
  const tally: PacketTally = { answered: 0, ignored: 0, truncated: 0, codes: new Map() };
  for (let number = 0; number < packets; number++) {
    const packet = packetFor(new Chance(seed, number));
    const what = await verdictOn(responder, packet, tally);
    if (what !== undefined) {
      return { finding: { what, packet: packet.toString('hex') }, tally };
    }
  }
  return { finding: undefined, tally };
};

const verdictOn = async (
  responder: Responder,
  packet: Buffer,
  tally: PacketTally,
): Promise<string | undefined> => {
  const before = Buffer.from(packet);
  try {
    const [udp, tcp] = [
      await responder.overUdp(packet, '192.0.2'),
      await responder.overTcp(packet),
    ];
    if (!before.equals(packet)) return 'the packet was changed';
    count(tally, udp);
    return wrongWith(packet, udp, 'udp') ?? wrongWith(packet, tcp, 'tcp');
  } catch (error) {
    return `it threw ${String(error)}`;
  }
};

const count = (tally: PacketTally, answer: Buffer | undefined): void => {
  if (!answer) {
    tally.ignored += 1;
    return;
  }
  tally.answered += 1;
  const flags = answer.readUInt16BE(2);
  if ((flags & 0x0200) !== 0) tally.truncated += 1;
  tally.codes.set(flags & 15, (tally.codes.get(flags & 15) ?? 0) + 1);
};

const wrongWith = (
  packet: Buffer,
  answer: Buffer | undefined,
  transport: 'udp' | 'tcp',
): string | undefined => {
  const mayBeAnswered = packet.length >= headerBytes && (packet.readUInt8(2) & 0x80) === 0;
  if (!answer) return mayBeAnswered ? 'a question got no answer' : undefined;
  if (!mayBeAnswered) return 'what is no question got an answer';
  if ((answer.readUInt8(2) & 0x80) === 0) return 'the answer is no answer';
  if (answer.readUInt16BE(0) !== packet.readUInt16BE(0)) return 'the answer has another id';
  const end = answer.readUInt16BE(4) === 0 ? headerBytes : endOfQuestion(answer);
  if (!answer.subarray(headerBytes, end).equals(packet.subarray(headerBytes, end))) {
    return 'the question came back changed';
  }
  if (transport === 'udp' && answer.length > largestDatagram) return 'the datagram is too long';
  if (transport === 'udp' && answer.length > plainDatagram && !hasExtension(answer)) {
    return 'the datagram is too long for one without EDNS';
  }
  if (answer.length > 5 * packet.length && transport === 'udp') return 'it answers too much';
  decode(answer);
  return undefined;
};

const endOfQuestion = (message: Buffer): number => {
  let at = headerBytes;
  while (message.readUInt8(at) !== 0) at += 1 + message.readUInt8(at);
  return at + 5;
};

const hasExtension = (answer: Buffer): boolean => answer.readUInt16BE(10) === 1;

/** Random, mutated, truncated and assembled queries, and those of real resolvers. */
const packetFor = (chance: Chance): Buffer => {
  const kind = chance.pick(['random', 'scratched', 'cut', 'built', 'built', 'real'] as const);
  switch (kind) {
    case 'random':
      return Buffer.from(chance.bytes(chance.size(700)), 'latin1');
    case 'scratched':
      return scratched(realQuestion(chance), chance);
    case 'cut': {
      const whole = realQuestion(chance);
      return whole.subarray(0, chance.below(whole.length + 1));
    }
    case 'built':
      return builtQuestion(chance);
    case 'real':
      return realQuestion(chance);
  }
};

const names = [
  zoneName,
  `${tokenOf(1)}.${zoneName}`,
  `${tokenOf(2)}.${zoneName}`,
  `${tokenOf(9)}.${zoneName}`,
  `${tokenOf(5)}.${zoneName}`,
  `a.${tokenOf(1)}.${zoneName}`,
  `x${zoneName}`,
  'store.example',
  '.',
];
const types = ['TXT', 'A', 'AAAA', 'SOA', 'NS', 'ANY', 'CAA', 'DS', 'AXFR', 'IXFR', 'OPT', 'TSIG'];

const realQuestion = (chance: Chance): Buffer => {
  const name = chance.pick(names);
  const spelled = chance.oneIn(3) ? mixedCase(name, chance) : name;
  const additionals = chance.oneIn(3)
    ? []
    : [edns(chance.pick([512, 1232, 4096, chance.below(65_536)]), chance.oneIn(20) ? 1 : 0)];
  const flags = chance.pick([0, 0x0100, 0x0110]);
  return question({ name: spelled, type: chance.pick(types), flags, additionals });
};

const mixedCase = (name: string, chance: Chance): string =>
  [...name].map((letter) => (chance.oneIn(2) ? letter.toUpperCase() : letter)).join('');

const scratched = (whole: Buffer, chance: Chance): Buffer => {
  const bytes = Buffer.from(whole);
  for (let n = chance.between(1, 6); n > 0; n--) {
    bytes.writeUInt8(chance.below(256), chance.below(bytes.length));
  }
  return bytes;
};

const uint16 = (value: number): string => String.fromCharCode((value >>> 8) & 255, value & 255);

/** Each part is usually valid, so that the parts after it are parsed too. */
const builtQuestion = (chance: Chance): Buffer => {
  const counts = [1, 0, 0, chance.below(4)].map((usual) =>
    uint16(chance.oneIn(12) ? chance.pick([0, 1, 2, 65_535, chance.below(65_536)]) : usual),
  );
  const flags = chance.oneIn(8) ? chance.bytes(2) : '\x01\0';
  const records = chance.times(chance.below(4), () => record(chance)).join('');
  const [type, asked] = [uint16(chance.below(chance.oneIn(4) ? 65_536 : 260)), uint16(1)];
  const name = wireName(chance) + type + (chance.oneIn(8) ? chance.bytes(2) : asked);
  const tail = chance.oneIn(20) ? chance.bytes(chance.size(5_000)) : '';
  return Buffer.from(chance.bytes(2) + flags + counts.join('') + name + records + tail, 'latin1');
};

/**
 * Includes pointers to themselves and in circles, labels that are too long, and dots and zeros within
 * labels.
 */
const wireName = (chance: Chance): string => {
  const labels = chance.times(chance.oneIn(10) ? chance.below(130) : chance.below(4), () => {
    const text = chance.pick([tokenOf(1), chance.bytes(chance.size(64)), 'a', 'acme', 'a.b', '\0']);
    return String.fromCharCode(chance.oneIn(30) ? chance.below(256) : text.length) + text;
  });
  const zone = '\x04acme\x05store\x07example\0';
  const end = chance.pick([zone, zone, zone, '\0', '\xc0\x0c', '\xc0', '\xff\xff', '']);
  return labels.join('') + end;
};

const record = (chance: Chance): string => {
  const data = chance.bytes(chance.size(80));
  const length = chance.oneIn(8) ? chance.below(65_536) : data.length;
  const owner = chance.pick(['\0', '\0', '\xc0\x0c', wireName(chance)]);
  const type = chance.pick([41, 41, 41, 250, 16, chance.below(65_536)]);
  const [room, codes] = [
    uint16(chance.below(65_536)),
    chance.oneIn(3) ? chance.bytes(4) : '\0\0\0\0',
  ];
  return owner + uint16(type) + room + codes + uint16(length) + data;
};
