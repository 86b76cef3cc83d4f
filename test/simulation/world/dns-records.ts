import ipaddr from 'ipaddr.js';
import { isIPv4, isIPv6 } from 'node:net';
import { longestName } from '../../../src/adapters/dns/wire-questions.ts';
import type { CaaRecord } from '../../../src/domains/domain/dns/facts.ts';

/** `minimum` is how long resolvers remember that a record is missing, in seconds. */
interface Soa {
  readonly mname: string;
  readonly minimum: number;
}

export interface RecordData {
  readonly A: string;
  readonly AAAA: string;
  readonly CNAME: string;
  readonly TXT: string;
  readonly CAA: CaaRecord;
  readonly NS: string;
  readonly SOA: Soa;
}
export type RecordType = keyof RecordData;

export const parentOf = (name: string): string =>
  name.includes('.') ? name.slice(name.indexOf('.') + 1) : '';

/** Addresses have one spelling, and names are in lower case. @throws Error for invalid data */
export const dataAsItTravels: {
  readonly [Type in RecordType]: (data: RecordData[Type]) => RecordData[Type];
} = {
  A: (ip) => (isIPv4(ip) ? ip : refused(`${ip} is no IPv4 address`)),
  AAAA: (ip) => (isIPv6(ip) ? ipaddr.parse(ip).toString() : refused(`${ip} is no IPv6 address`)),
  CNAME: (name) => hostName(name),
  TXT: (text) => (text.length <= 4_096 ? text : refused('a text that is too long')),
  CAA: (caa) => (/^[a-z0-9]{1,15}$/i.test(caa.tag) ? caa : refused(`the CAA tag ${caa.tag}`)),
  NS: (name) => hostName(name),
  SOA: (soa) => (soa.minimum >= 0 ? soa : refused(`the minimum ${soa.minimum}`)),
};

const isHost = (name: string): boolean =>
  name.length <= longestName &&
  name.split('.').every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label));

const refused = (what: string): never => {
  throw new Error(`refused: ${what}`);
};

export const refuseIf = (isWrong: boolean, what: string): void => {
  if (isWrong) refused(what);
};

/** In lower case, without the final dot. @throws Error for an invalid name */
export const hostName = (name: string): string => {
  const plain = name.toLowerCase().replace(/\.$/, '');
  refuseIf(!isHost(plain), `${name} is no name`);
  return plain;
};

export const ownerName = (name: string): string =>
  name.startsWith('*.') ? `*.${hostName(name.slice(2))}` : hostName(name);
