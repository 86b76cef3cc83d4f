import type { Transport } from '../lab/dns/sockets.ts';
import { typeNumbers } from '../lab/dns/zone.ts';
import { type Chance, asBytes, hostileText } from './hostile-text.ts';

const headerBytes = 12;
const largestDatagram = 1232;
const largestMessage = 65_535;

const uint16 = (value: number): string => String.fromCharCode((value >>> 8) & 255, value & 255);

interface RawRecord {
  readonly type: number;
  readonly data: string;
  /** Points to the question by default. */
  readonly name?: string;
  readonly ttl?: string;
  readonly length?: number;
}

const record = ({
  name = '\xc0\x0c',
  type,
  ttl = '\0\0\0\x3c',
  data,
  length = data.length,
}: RawRecord): string => `${name}${uint16(type)}\0\x01${ttl}${uint16(length)}${data}`;

/** Answers a question wrongly, like a faulty name server. @returns the message, or sometimes nothing */
export const mangledAnswer = (
  query: Buffer,
  transport: Transport,
  chance: Chance,
): Buffer | undefined => {
  if (chance.oneIn(40)) return undefined;
  const text = query.toString('latin1');
  const question = text.slice(headerBytes, questionEnd(text));
  const type =
    question.charCodeAt(question.length - 4) * 256 + question.charCodeAt(question.length - 3);
  const records = chance.pick(kinds)(chance, type);
  const count = chance.oneIn(10) ? chance.below(65_536) : records.length;
  const header = headerOf(text.slice(0, 2), count, chance);
  let body = header + question + records.map(record).join('');
  if (chance.oneIn(8)) body = body.slice(0, headerBytes + chance.below(body.length));
  if (chance.oneIn(8)) body = scratched(body, chance);
  if (transport === 'tcp')
    return Buffer.from(framed(body.slice(0, largestMessage), chance), 'latin1');
  if (body.length <= largestDatagram) return Buffer.from(body, 'latin1');
  const cut = header.slice(0, 2) + '\x83\x80\0\x01\0\0\0\0\0\0' + question;
  return Buffer.from(cut, 'latin1');
};

const questionEnd = (text: string): number => text.indexOf('\0', headerBytes) + 5;

const headerOf = (id: string, count: number, chance: Chance): string => {
  const rcode = chance.oneIn(10) ? chance.below(16) : 0;
  const flags = String.fromCharCode(chance.oneIn(30) ? chance.below(256) : 0x81, 0x80 | rcode);
  const number = chance.oneIn(30) ? chance.bytes(2) : id;
  const others = chance.oneIn(15) ? chance.bytes(4) : '\0\0\0\0';
  return `${number}${flags}${chance.oneIn(30) ? '\0\x02' : '\0\x01'}${uint16(count)}${others}`;
};

/** Over TCP each message has a length prefix (RFC 1035, section 4.2.2), here correct or not. */
const framed = (body: string, chance: Chance): string => {
  const message = uint16(chance.oneIn(10) ? chance.below(65_536) : body.length) + body;
  return chance.oneIn(20) ? message.repeat(20) : message;
};

const scratched = (body: string, chance: Chance): string => {
  const at = chance.between(headerBytes, body.length);
  return body.slice(0, at) + chance.bytes(chance.between(1, 4)) + body.slice(at + 1);
};

const strings = (text: string): string => {
  const parts = text.match(/[^]{1,255}/g) ?? [''];
  return parts.map((part) => String.fromCharCode(part.length) + part).join('');
};

const caa = (flags: number, tag: string, value: string): string =>
  String.fromCharCode(flags & 255, tag.length & 255) + tag + value;

const labels = (name: string): string => `${strings(name)}\0`;

/** Pointers to nowhere, to themselves, forwards and in circles (RFC 1035, section 4.1.4). */
const pointer = (chance: Chance): string =>
  chance.pick([
    `\xc0${String.fromCharCode(chance.below(256))}`,
    '\xff\xff',
    '\x01a\xc0\x0c',
    '\xc0\x0c'.repeat(3),
    '\x3f' + 'a'.repeat(63) + '\xc0\x1d',
    '\x80\x01',
    '\x40',
  ]);

const dataFor = (type: number, chance: Chance): string => {
  switch (type) {
    case typeNumbers.A:
      return chance.bytes(chance.oneIn(6) ? chance.below(20) : 4);
    case typeNumbers.AAAA:
      return chance.bytes(chance.oneIn(6) ? chance.below(40) : 16);
    case typeNumbers.TXT:
      return strings(asBytes(hostileText(chance, 2000)));
    case typeNumbers.CAA:
      return caa(
        chance.pick([0, 128, 255]),
        chance.pick(['issue', 'issuewild', 'iodef', 'ISSUE', '', 'x'.repeat(200), chance.bytes(3)]),
        chance.pick([
          ';',
          '',
          'letsencrypt.org',
          'ca.test; a=b; c',
          asBytes(hostileText(chance, 3000)),
        ]),
      );
    default:
      return chance.oneIn(3) ? pointer(chance) : labels(asBytes(hostileText(chance, 250)));
  }
};

type Kind = (chance: Chance, type: number) => readonly RawRecord[];

const many = (count: number, make: () => RawRecord): readonly RawRecord[] => {
  const records: RawRecord[] = [];
  for (let bytes = 0; records.length < count && bytes < largestMessage;) {
    const next = make();
    records.push(next);
    bytes += 12 + next.data.length;
  }
  return records;
};

const kinds: readonly Kind[] = [
  () => [],
  (chance, type) =>
    chance.times(chance.between(1, 4), () => ({ type, data: dataFor(type, chance) })),
  (chance, type) => many(chance.size(6000), () => ({ type, data: dataFor(type, chance) })),
  (chance, type) => [{ type, name: pointer(chance), data: dataFor(type, chance) }],
  (chance, type) => [{ type, data: dataFor(type, chance), length: chance.below(65_536) }],
  (chance, type) => [{ type, data: dataFor(type, chance), ttl: chance.bytes(4) }],
  (chance) => [{ type: typeNumbers.CNAME, data: pointer(chance) }],
  (chance) =>
    chance.times(chance.size(200), () => ({
      type: typeNumbers.CNAME,
      data: labels(chance.hex(20)),
    })),
  (chance, type) => [{ type, data: chance.pick([' ', 'x', '\0', '"']).repeat(60_000) }],
  (chance) => [{ type: typeNumbers.TXT, data: strings(chance.pick(['a', ' ']).repeat(60_000)) }],
  (chance) => [
    {
      type: typeNumbers.CAA,
      data: caa(0, 'issue', `x${chance.pick([' ', '\t', ';', 'a=b;']).repeat(12_000)}y`),
    },
  ],
  (chance) => [{ type: chance.below(65_536), data: chance.bytes(chance.size(3000)) }],
];
