import type { Answer } from 'dns-packet';
import { decoded, queryFor, rcodeOf, rcodes } from '../../../src/adapters/dns/wire-questions.ts';
import type { DnsFailure } from '../../../src/domains/domain/dns/facts.ts';
import {
  dataAsItTravels,
  hostName,
  ownerName,
  parentOf,
  refuseIf,
  type RecordData,
  type RecordType,
} from './dns-records.ts';

/** Not a promise if there is nothing to wait for, which saves a timer. */
export type Soon<T> = T | Promise<T>;

export type Found<Type extends RecordType> = FoundRecords<Type> | Missing | Failed;

export interface FoundRecords<Type extends RecordType> {
  readonly kind: 'records';
  readonly records: readonly RecordData[Type][];
  readonly ttl: number;
}
export interface Missing {
  readonly kind: 'none' | 'no_such_name';
  readonly ttl: number;
}
export interface Failed {
  readonly kind: 'failed';
  readonly reason: DnsFailure;
  /** The answer exists, but its DNSSEC validation fails. */
  readonly isBogus?: boolean;
}

/** Name servers of the service, such as `Responder.overTcp`. They may never answer, and may reject. */
export type ZoneProcess = (query: Buffer) => Soon<Buffer | undefined>;

export interface ZoneTerms {
  readonly nameServers?: readonly [string, ...string[]];
  readonly minimum?: number;
  readonly isSigned?: boolean;
}

type Sets = { [Type in RecordType]?: FoundRecords<Type> };

interface Zone {
  readonly isSigned: boolean;
  readonly sets: Map<string, Sets>;
  readonly below: Map<string, number>;
  readonly process?: ZoneProcess | undefined;
}

const lasting = 86_400;
const longestTtl = 2 ** 31 - 1;

/** What owners and registries publish. Resolvers may not know it yet. Refuses what name servers refuse. */
export class DnsZones {
  readonly #zones = new Map<string, Zone>();
  readonly #suffixes: ReadonlySet<string>;
  #edits = 0;

  /** @param suffixes below which names are registered, such as `example`; a longer one after a shorter one */
  constructor(suffixes: readonly string[]) {
    this.#suffixes = new Set(suffixes);
    this.#open('', { isSigned: true });
    for (const suffix of suffixes) this.register(suffix, { isSigned: true });
  }

  get edits(): number {
    return this.#edits;
  }

  /** Adds a zone with only its NS and SOA records. @param process answers in place of records */
  register(apex: string, terms: ZoneTerms = {}, process?: ZoneProcess): void {
    const name = hostName(apex);
    const parent = this.#zoneAt(this.zoneOf(name));
    refuseIf(this.#zones.has(name), `${name} is registered`);
    refuseIf((parent.below.get(name) ?? 0) > 0, `${name} has records in the zone above`);
    this.#count(name, 1);
    this.#edits += 1;
    this.#open(name, terms, process);
  }

  /** Ends the registration: the zone above answers that the name does not exist. */
  drop(apex: string): void {
    const name = hostName(apex);
    const isUsed = [...this.#zones.keys()].some((other) => other.endsWith(`.${name}`));
    refuseIf(isUsed, `there are zones below ${name}`);
    refuseIf(!this.#zones.delete(name), `${name} is not registered`);
    this.#count(name, -1);
    this.#edits += 1;
  }

  /** Replaces all records of the type. @throws Error, without a change, for records that name servers refuse */
  set<Type extends RecordType>(
    name: string,
    type: Type,
    records: readonly RecordData[Type][],
    ttl: number,
  ): void {
    const at = ownerName(name);
    const apex = this.zoneOf(at);
    const { sets, process } = this.#zoneAt(apex);
    refuseIf(process !== undefined || apex === '', `nobody edits records at ${at}`);
    refuseIf(!Number.isInteger(ttl) || ttl < 0 || ttl > longestTtl, `${ttl} is no TTL`);
    refuseIf(records.length === 0, `no ${type} record for ${at}`);
    const [isApex, its] = [at === apex, sets.get(at) ?? {}];
    refuseIf(this.#suffixes.has(apex) && !isApex, `${at} is not registered`);
    refuseIf(type === 'CNAME' && isApex, `a CNAME at the apex ${at}`);
    refuseIf((type === 'NS' || type === 'SOA') && !isApex, `${type} below the apex, at ${at}`);
    const others = Object.keys(its).filter((other) => other !== type);
    const isBeside = type === 'CNAME' ? others.length > 0 : others.includes('CNAME');
    refuseIf(isBeside, `a CNAME beside other records at ${at}`);
    refuseIf((type === 'CNAME' || type === 'SOA') && records.length > 1, `two of ${type} at ${at}`);
    const data = records.map((record) => dataAsItTravels[type](record));
    const different = new Set(data.map((record) => JSON.stringify(record)));
    refuseIf(different.size < data.length, `a ${type} record of ${at} twice`);
    its[type] = { kind: 'records', records: data, ttl } satisfies FoundRecords<Type> as Sets[Type];
    if (!sets.has(at)) this.#count(at, 1);
    sets.set(at, its);
    this.#edits += 1;
  }

  /** Removing missing records changes nothing. */
  remove(name: string, type: RecordType): void {
    const at = ownerName(name);
    const { sets } = this.#zoneAt(this.zoneOf(at));
    const its = sets.get(at);
    if (!its?.[type]) return;
    refuseIf(type === 'NS' || type === 'SOA', `the zone ${at} needs its ${type}`);
    this.#edits += 1;
    const others = Object.entries(its).filter(([other]) => other !== type);
    if (others.length > 0) {
      sets.set(at, Object.fromEntries(others));
      return;
    }
    sets.delete(at);
    this.#count(at, -1);
  }

  /** The closest zone at or above a name; the root is an empty text. */
  zoneOf(name: string): string {
    let apex = name;
    while (!this.#zones.has(apex)) apex = parentOf(apex);
    return apex;
  }

  isSigned(name: string): boolean {
    return this.#zoneAt(this.zoneOf(name)).isSigned;
  }

  /** The records of the type, or the CNAME in their place. Asynchronous only if a process answers. */
  find<Type extends RecordType>(name: string, type: Type): Soon<Found<Type> | Alias> {
    const apex = this.zoneOf(name);
    const zone = this.#zoneAt(apex);
    if (zone.process) return fromProcess(zone.process, name, type);
    const missing = { ttl: negativeTtlOf(zone, apex) };
    const its = zone.sets.get(name) ?? wildcardFor(zone, name);
    if (!its) return { kind: zone.below.has(name) ? 'none' : 'no_such_name', ...missing };
    const found = its[type];
    if (found) return found;
    return its.CNAME ? { kind: 'alias', cname: its.CNAME } : { kind: 'none', ...missing };
  }

  #open(apex: string, terms: ZoneTerms, process?: ZoneProcess): void {
    const { nameServers = [`ns1.${apex}`, `ns2.${apex}`], minimum = 300, isSigned = false } = terms;
    const apexSets: Sets = {
      NS: { kind: 'records', records: nameServers, ttl: lasting },
      SOA: { kind: 'records', records: [{ mname: nameServers[0], minimum }], ttl: lasting },
    };
    const [sets, below] = [new Map([[apex, apexSets]]), new Map([[apex, 1]])];
    this.#zones.set(apex, { isSigned, sets, below, process });
  }

  #zoneAt(apex: string): Zone {
    const zone = this.#zones.get(apex);
    if (!zone) throw new Error(`there is no zone ${apex}`);
    return zone;
  }

  #count(name: string, change: 1 | -1): void {
    const apex = this.zoneOf(name);
    const { below } = this.#zoneAt(apex);
    for (let at = name; at !== apex; at = parentOf(at)) {
      const count = (below.get(at) ?? 0) + change;
      if (count > 0) below.set(at, count);
      else below.delete(at);
    }
  }
}

export interface Alias {
  readonly kind: 'alias';
  readonly cname: FoundRecords<'CNAME'>;
}

/** RFC 2308, section 5. */
const negativeTtlOf = ({ sets }: Zone, apex: string): number => {
  const soa = sets.get(apex)?.SOA;
  return Math.min(soa?.ttl ?? 0, soa?.records[0]?.minimum ?? 0);
};

/** The wildcard below the closest name that exists (RFC 4592, section 3.3.1). */
const wildcardFor = ({ sets, below }: Zone, name: string): Sets | undefined => {
  if (below.has(name)) return undefined;
  let above = parentOf(name);
  while (!below.has(above) && above !== '') above = parentOf(above);
  return sets.get(`*.${above}`);
};

/** Queries and answers are bytes, as for resolvers. */
const fromProcess = async <Type extends RecordType>(
  answers: ZoneProcess,
  name: string,
  type: Type,
): Promise<Found<Type>> => {
  const message = await answers(queryFor({ name, type }));
  const packet = message && decoded(message);
  const rcode = message && rcodeOf(message);
  const isAnswer = rcode === rcodes.noError || rcode === rcodes.noSuchName;
  if (!packet || !isAnswer) return { kind: 'failed', reason: 'servfail' };
  const its = (packet.answers ?? []).filter((answer) => answer.type === type);
  if (its.length > 0) {
    const ttl = Math.min(...its.map((answer) => ('ttl' in answer ? (answer.ttl ?? 0) : 0)));
    return { kind: 'records', records: its.map(dataOf) as RecordData[Type][], ttl };
  }
  const minima = (packet.authorities ?? []).map((it) =>
    it.type === 'SOA' ? (it.data.minimum ?? 0) : 0,
  );
  const kind = rcode === rcodes.noSuchName ? 'no_such_name' : 'none';
  return { kind, ttl: Math.max(0, ...minima) };
};

const dataOf = (answer: Answer): unknown => {
  if (answer.type === 'TXT') return [answer.data].flat().map(String).join('');
  return 'data' in answer ? answer.data : undefined;
};
