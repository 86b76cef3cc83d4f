import { decode, encode, RECURSION_DESIRED, type Answer, type CaaData } from 'dns-packet';
import { randomInt } from 'node:crypto';
import type { CaaRecord, DnsAnswer, DnsFailure } from '../../domains/domain/dns/facts.ts';
import type { ServerAddress } from './server-address.ts';
import { exchange } from './wire-exchange.ts';

/**
 * Asks one resolver for CAA records, byte by byte as an authority reads them. node:dns cannot: one empty value
 * (`issuewild ""`) makes the whole answer EBADRESP, a tag named `critical` replaces the flags, and a value ends at
 * its first NUL.
 */
export const askCaa = async (
  server: ServerAddress,
  name: string,
  signal: AbortSignal,
): Promise<DnsAnswer<CaaRecord>> => {
  if (!canBeAsked(name)) return malformed;
  try {
    return read(await exchange(server, caaQuery(name), signal));
  } catch {
    return { kind: 'failed', reason: signal.aborted ? 'timeout' : 'unreachable' };
  }
};

const malformed = { kind: 'failed', reason: 'malformed' } as const;

/** RFC 1035, section 2.3.4. */
const canBeAsked = (name: string): boolean =>
  name.length <= 253 && name.split('.').every((label) => /^[\x21-\x7e]{1,63}$/.test(label));

const caaQuery = (name: string): Buffer =>
  encode({
    type: 'query',
    id: randomInt(0x1_0000),
    flags: RECURSION_DESIRED,
    questions: [{ type: 'CAA', name }],
    additionals: [extension],
  });

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

const failures: Partial<Record<number, DnsFailure>> = { 2: 'servfail', 4: 'refused', 5: 'refused' };

const read = (message: Buffer): DnsAnswer<CaaRecord> => {
  const rcode = message.readUInt8(3) & 0x0f;
  if (rcode === 3) return { kind: 'no_such_name' };
  if (rcode !== 0) return { kind: 'failed', reason: failures[rcode] ?? 'malformed' };
  const answers = readAnswers(message)?.filter((answer) => answer.type !== 'OPT');
  if (!answers) return malformed;
  const records = answers
    .filter((answer) => answer.type === 'CAA')
    .map(({ data }) => toRecord(data));
  if (!records.every(isWhole)) return malformed;
  if (records.length === 0) return { kind: 'none' };
  return { kind: 'records', records, ttl: Math.min(...answers.map(({ ttl = 0 }) => ttl)) };
};

const toRecord = ({ flags = 0, tag, value }: CaaData): CaaRecord => ({ flags, tag, value });

/** A tag that reaches beyond its record brings bytes of the next one along: there, a name or the OPT record. */
const isWhole = ({ tag }: CaaRecord): boolean => /^[\x21-\x7e]+$/.test(tag);

/** What cannot be decoded is undefined. */
const readAnswers = (message: Buffer): readonly Answer[] | undefined => {
  try {
    return decode(message).answers;
  } catch {
    return undefined;
  }
};
