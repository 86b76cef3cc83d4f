import { encode, type Answer } from 'dns-packet';
import { headerBytes, type Message, type Query } from './query.ts';
import { rcodes, type Rcode, type ZoneAnswer } from './zone-answer.ts';

export type Transport = 'udp' | 'tcp';

/** What no network cuts (DNS flag day 2020). */
const largestDatagram = 1232;
/** Without EDNS (RFC 1035, section 4.2.1). */
const plainDatagram = 512;

const flag = { response: 0x8000, authoritative: 0x0400, truncated: 0x0200 } as const;

export interface Reply {
  readonly bytes: Buffer;
  readonly rcode: Rcode;
  readonly isTruncated: boolean;
}

/** The answer as it is sent: over UDP not more than the asker takes, and at most 1232 bytes. */
export const replyWith = (query: Query, answer: ZoneAnswer, transport: Transport): Reply => {
  const { rcode, isOurs, answers, authorities } = answer;
  const flags = isOurs ? flag.authoritative : 0;
  const bytes = written(query, { rcode, flags, sections: { answers, authorities } });
  if (transport === 'udp' && bytes.length > roomFor(query)) return truncated(query);
  return { bytes, rcode, isTruncated: false };
};

/** Not longer than its question: a real resolver asks again over TCP (RFC 7766). */
export const truncated = (query: Query): Reply => ({
  bytes: written(query, { rcode: 'NOERROR', flags: flag.truncated, sections: {} }),
  rcode: 'NOERROR',
  isTruncated: true,
});

/** A header: the question of such a message cannot be repeated. */
export const refusal = ({ id, kept }: Message, rcode: 'FORMERR' | 'NOTIMP'): Reply => {
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

/** The question is put in as it came: encoded again, its bytes could differ. */
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

/** RFC 6891, section 6.1.1: what asks with EDNS is answered with it. We sign nothing, so DO is not repeated. */
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
