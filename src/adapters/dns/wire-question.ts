import {
  AUTHENTIC_DATA,
  CHECKING_DISABLED,
  decode,
  encode,
  RECURSION_DESIRED,
  type Answer,
  type DecodedPacket,
  type RecordType,
} from 'dns-packet';
import { randomInt } from 'node:crypto';
import type { DnsFailure } from '../../domains/domain/dns/facts.ts';

export interface WireQuestion {
  readonly type: RecordType;
  readonly name: string;
  /** The resolver answers although DNSSEC says that the answer is wrong (RFC 4035, section 3.2.2). */
  readonly isUnchecked?: boolean;
}

/** Asks a resolver, which also says whether it validated the answer (RFC 6840, section 5.7). */
export const queryFor = ({ type, name, isUnchecked = false }: WireQuestion): Buffer =>
  encode({
    type: 'query',
    id: randomInt(0x1_0000),
    flags: RECURSION_DESIRED | AUTHENTIC_DATA | (isUnchecked ? CHECKING_DISABLED : 0),
    questions: [{ type, name }],
    additionals: [extension],
  });

/** Characters of a name (RFC 1035, section 3.1): a longer one cannot exist, so it has no record. */
export const longestName = 253;

/** RFC 1035, section 2.3.4. */
export const canBeAsked = (name: string): boolean =>
  name.length <= longestName && name.split('.').every((label) => /^[\x21-\x7e]{1,63}$/.test(label));

/** Lets answers of up to 1232 bytes come over UDP (RFC 6891); no network cuts these. */
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

export const failures: Partial<Record<number, DnsFailure>> = {
  2: 'servfail',
  4: 'refused',
  5: 'refused',
};

/** Whether the resolver validated the answer by DNSSEC (RFC 4035, section 3.2.3). */
export const isAuthentic = (message: Buffer): boolean => (message.readUInt8(3) & 0x20) !== 0;

/** What cannot be decoded is undefined. */
export const decoded = (message: Buffer): DecodedPacket | undefined => {
  try {
    return decode(message);
  } catch {
    return undefined;
  }
};
