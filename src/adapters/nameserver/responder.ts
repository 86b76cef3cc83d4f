import { encode, type Answer } from 'dns-packet';
import type { AnswerRate } from './limits.ts';
import { headerBytes, readMessage, type Message, type Query, type Transport } from './query.ts';
import type { ValueLookup } from './value-lookup.ts';
import { answerTo, labelIn, rcodes, type Rcode, type Zone, type ZoneAnswer } from './zone.ts';

interface ResponderPorts {
  readonly zone: Zone;
  readonly lookup: ValueLookup;
  readonly rate: AnswerRate;
}

export class Responder {
  readonly #ports: ResponderPorts;
  readonly #answers = { udp: noneYet(), tcp: noneYet() };
  truncated = 0;
  limited = 0;
  ignored = 0;

  constructor(ports: ResponderPorts) {
    this.#ports = ports;
  }

  answersOver(transport: Transport): Readonly<Record<Rcode, number>> {
    return this.#answers[transport];
  }

  overUdp(message: Buffer, network: string): Buffer | undefined | Promise<Buffer> {
    const read = readMessage(message);
    if (!read) {
      this.ignored += 1;
      return undefined;
    }
    if (this.#ports.rate.take(network)) return this.#answer(read, 'udp');
    // Resolvers do not send such messages, so they need no answer that triggers a retry.
    if (read.kind !== 'query') {
      this.ignored += 1;
      return undefined;
    }
    this.limited += 1;
    return this.#count(truncated(read), 'udp');
  }

  overTcp(message: Buffer): Buffer | undefined | Promise<Buffer> {
    const read = readMessage(message);
    if (!read) this.ignored += 1;
    return read && this.#answer(read, 'tcp');
  }

  #answer(
    read: NonNullable<ReturnType<typeof readMessage>>,
    transport: Transport,
  ): Buffer | Promise<Buffer> {
    switch (read.kind) {
      case 'malformed':
        return this.#count(refusal(read, 'FORMERR'), transport);
      case 'other_opcode':
        return this.#count(refusal(read, 'NOTIMP'), transport);
      case 'query':
        return this.#answerQuery(read, transport);
    }
  }

  #answerQuery(query: Query, transport: Transport): Buffer | Promise<Buffer> {
    const { zone, lookup } = this.#ports;
    const label = labelIn(query, zone);
    if (label === undefined) {
      return this.#count(replyWith(query, answerTo(query, zone), transport), transport);
    }
    // A UDP flood must not use up the places for TCP.
    if (transport === 'udp' && lookup.isCrowded) return this.#count(truncated(query), transport);
    return lookup.valuesOf(label, transport).then((values) => {
      return this.#count(replyWith(query, answerTo(query, zone, values), transport), transport);
    });
  }

  #count({ bytes, rcode, isTruncated }: Reply, transport: Transport): Buffer {
    this.#answers[transport][rcode] += 1;
    if (isTruncated) this.truncated += 1;
    return bytes;
  }
}

const noneYet = () =>
  Object.fromEntries(Object.keys(rcodes).map((rcode) => [rcode, 0])) as Record<Rcode, number>;

/** No network fragments a datagram of this size (DNS flag day 2020). */
const largestDatagram = 1232;
/** Largest datagram without EDNS (RFC 1035, section 4.2.1). */
const plainDatagram = 512;

const flag = { response: 0x8000, authoritative: 0x0400, truncated: 0x0200 } as const;

interface Reply {
  readonly bytes: Buffer;
  readonly rcode: Rcode;
  readonly isTruncated: boolean;
}

const replyWith = (query: Query, answer: ZoneAnswer, transport: Transport): Reply => {
  const { rcode, isOurs, answers, authorities } = answer;
  const flags = isOurs ? flag.authoritative : 0;
  const bytes = written(query, { rcode, flags, sections: { answers, authorities } });
  if (transport === 'udp' && bytes.length > roomFor(query)) return truncated(query);
  return { bytes, rcode, isTruncated: false };
};

/** Creates an answer no longer than its question. Resolvers then retry over TCP (RFC 7766). */
const truncated = (query: Query): Reply => ({
  bytes: written(query, { rcode: 'NOERROR', flags: flag.truncated, sections: {} }),
  rcode: 'NOERROR',
  isTruncated: true,
});

/** Answers with the header only, because the question may be unreadable. */
const refusal = ({ id, kept }: Message, rcode: 'FORMERR' | 'NOTIMP'): Reply => {
  const bytes = Buffer.alloc(headerBytes);
  bytes.writeUInt16BE(id, 0);
  bytes.writeUInt16BE(flag.response | kept | rcodes[rcode], 2);
  return { bytes, rcode, isTruncated: false };
};

const roomFor = ({ extension }: Query): number =>
  Math.min(largestDatagram, Math.max(plainDatagram, extension?.udpBytes ?? plainDatagram));

interface Parts {
  readonly rcode: Rcode;
  readonly flags: number;
  readonly sections: {
    readonly answers?: readonly Answer[];
    readonly authorities?: readonly Answer[];
  };
}

/** Copies the question's raw bytes, because encoding could change them. */
const written = (query: Query, { rcode, flags, sections }: Parts): Buffer => {
  const { answers = [], authorities = [] } = sections;
  const rest = encode({
    id: query.id,
    type: 'response',
    answers: [...answers],
    authorities: [...authorities],
    additionals: query.extension ? [extensionWith(rcode)] : [],
  });
  const bytes = Buffer.concat([
    rest.subarray(0, headerBytes),
    query.question,
    rest.subarray(headerBytes),
  ]);
  bytes.writeUInt16BE(flag.response | flags | query.kept | (rcodes[rcode] & 0x0f), 2);
  bytes.writeUInt16BE(1, 4);
  return bytes;
};

/** Answers EDNS with EDNS (RFC 6891, section 6.1.1). Does not repeat DO, because we do not sign. */
const extensionWith = (rcode: Rcode): Answer => ({
  type: 'OPT',
  name: '.',
  udpPayloadSize: largestDatagram,
  extendedRcode: rcodes[rcode] >> 4,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
});
