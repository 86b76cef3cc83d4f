/** How each type is written in a packet. */
export const typeNumbers = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  CAA: 257,
} as const;

export type RecordType = keyof typeof typeNumbers;

/** Bytes stand for record data as it is, also where that is wrong. */
type Data<Parsed> = readonly (Parsed | Uint8Array)[];

/** What a name has. */
export interface Records {
  readonly A?: Data<string>;
  readonly AAAA?: Data<string>;
  readonly CNAME?: Data<string>;
  /** Answered with the addresses of the target, as a provider does who has no CNAME at the apex. */
  readonly ALIAS?: readonly string[];
  readonly TXT?: Data<string | readonly string[]>;
  readonly CAA?: Data<{ readonly flags?: number; readonly tag: string; readonly value: string }>;
  readonly NS?: Data<string>;
  readonly SOA?: Data<{ readonly mname: string; readonly rname: string; readonly serial?: number }>;
  readonly MX?: Data<{ readonly preference: number; readonly exchange: string }>;
  /** Seconds, 60 by default. */
  readonly TTL?: number;
}

/** Names without regard to case and last dot; `*.` in front matches as RFC 4592 says. */
export type Zone = Readonly<Record<string, Records>>;

export interface FoundRecord {
  readonly name: string;
  readonly type: RecordType;
  readonly ttl: number;
  readonly data: unknown;
}

export interface Found {
  readonly rcode: 'NOERROR' | 'NXDOMAIN' | 'SERVFAIL';
  readonly records: readonly FoundRecord[];
}

export const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

const mostHops = 16;

/** Answers from a zone as a recursive resolver does: CNAMEs are followed, and the answer shows the way. */
export class DnsZone {
  readonly #names: ReadonlyMap<string, Records>;

  constructor(zone: Zone) {
    this.#names = new Map(Object.entries(zone).map(([name, its]) => [plainName(name), its]));
  }

  find(asked: string, type: RecordType): Found {
    const records: FoundRecord[] = [];
    let name = plainName(asked);
    for (let hop = 0; hop <= mostHops; hop++) {
      const its = this.#records(name);
      if (!its) return { rcode: this.#exists(name) ? 'NOERROR' : 'NXDOMAIN', records };
      const add = (as: RecordType, all: readonly unknown[]): void => {
        for (const data of all) records.push({ name, type: as, ttl: its.TTL ?? 60, data });
      };
      if (its[type]) {
        add(type, its[type]);
        return { rcode: 'NOERROR', records };
      }
      const [alias] = its.ALIAS ?? [];
      if (alias !== undefined && (type === 'A' || type === 'AAAA')) {
        const target = this.find(alias, type);
        add(type, ofType(target.records, type));
        return { rcode: target.rcode === 'SERVFAIL' ? 'SERVFAIL' : 'NOERROR', records };
      }
      const [next] = its.CNAME ?? [];
      if (typeof next !== 'string') return { rcode: 'NOERROR', records };
      add('CNAME', its.CNAME ?? []);
      name = plainName(next);
    }
    return { rcode: 'SERVFAIL', records: [] };
  }

  /** Its own, or those of the wildcard below the closest name that exists. */
  #records(name: string): Records | undefined {
    if (this.#exists(name)) return this.#names.get(name);
    let above = name;
    do above = above.slice(above.indexOf('.') + 1);
    while (above.includes('.') && !this.#exists(above));
    return this.#names.get(`*.${above}`);
  }

  /** A name also exists when something lies below it (RFC 8020). */
  #exists(name: string): boolean {
    return this.#names.has(name) || [...this.#names.keys()].some((its) => its.endsWith(`.${name}`));
  }
}

const ofType = (records: readonly FoundRecord[], type: RecordType): readonly unknown[] =>
  records.filter((record) => record.type === type).map(({ data }) => data);
