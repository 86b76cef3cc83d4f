import type { CaaData } from 'dns-packet';
import type { CaaRecord, DnsAnswer } from '../../domains/domain/dns/facts.ts';
import type { ServerAddress } from './server-address.ts';
import { exchange } from './wire-exchange.ts';
import {
  canBeAsked,
  decoded,
  failures,
  isAuthentic,
  queryFor,
  rcodeOf,
  rcodes,
} from './wire-question.ts';

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
    const message = await exchange(server, queryFor({ type: 'CAA', name }), signal);
    const answer = read(message);
    return answer.kind !== 'failed' && isAuthentic(message)
      ? { ...answer, isAuthentic: true }
      : answer;
  } catch {
    return { kind: 'failed', reason: signal.aborted ? 'timeout' : 'unreachable' };
  }
};

const malformed = { kind: 'failed', reason: 'malformed' } as const;

const read = (message: Buffer): DnsAnswer<CaaRecord> => {
  const rcode = rcodeOf(message);
  if (rcode === rcodes.noSuchName) return { kind: 'no_such_name' };
  if (rcode !== rcodes.noError) return { kind: 'failed', reason: failures[rcode] ?? 'malformed' };
  const answers = decoded(message)?.answers?.filter((answer) => answer.type !== 'OPT');
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
