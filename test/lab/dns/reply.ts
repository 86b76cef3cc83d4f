import {
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
  type Answer,
  type DecodedPacket,
  type Packet,
} from 'dns-packet';
import type { DnsFault } from './faults.ts';
import { typeNumbers, type Found, type FoundRecord } from './zone.ts';

const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 };

/** What a resolver sends back when it `found` this, with the fault worked in. */
export const dnsReply = (query: DecodedPacket, found: Found, fault: DnsFault): Packet => {
  const records = fault.rcode ? [] : found.records;
  const rcode = rcodes[fault.rcode ?? found.rcode];
  const id = query.id ?? 0;
  return {
    id: fault.badId ? id ^ 1 : id,
    type: 'response',
    flags: rcode | RECURSION_DESIRED | RECURSION_AVAILABLE,
    questions: query.questions ?? [],
    answers: records.map(toAnswer),
    authorities: records.length === 0 && !fault.rcode ? [startOfAuthority] : [],
    additionals: udpSize(query) === undefined ? [] : [extension],
  };
};

/** The same without its records: the asker is to come again over TCP. */
export const truncated = (reply: Packet): Packet => ({
  ...reply,
  flags: (reply.flags ?? 0) | TRUNCATED_RESPONSE,
  answers: [],
});

/** How much fits into a datagram (RFC 6891); undefined where the asker does not say. */
export const udpSize = ({ additionals = [] }: Packet): number | undefined =>
  additionals.find((record) => record.type === 'OPT')?.udpPayloadSize;

/** dns-packet takes any type as `UNKNOWN_number` with its bytes; its types do not say so. */
const toAnswer = ({ name, type, ttl, data }: FoundRecord): Answer =>
  ({
    name,
    type: data instanceof Uint8Array ? `UNKNOWN_${typeNumbers[type]}` : type,
    ttl,
    data: data instanceof Uint8Array ? Buffer.from(data) : data,
  }) as Answer;

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

/** Negative answers are kept for so many seconds at most (RFC 2308). */
const startOfAuthority: Answer = {
  name: '.',
  type: 'SOA',
  ttl: 5,
  data: { mname: 'ns.test', rname: 'root.test', serial: 1, minimum: 5 },
};
