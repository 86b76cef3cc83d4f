const known = ['A', 'AAAA', 'CNAME', 'ALIAS', 'TXT', 'CAA'] as const;
type Type = (typeof known)[number];

/** Lines that cannot be read, with the reason. */
interface ReadZone {
  readonly zone: Zone;
  readonly problems: readonly string[];
}

const line = /^;? ?(\S+)(?: \d+)?(?: IN)? ([A-Z]+) (.+)$/;

/**
 * Reads lines of a zone file (RFC 1035, section 5.1) as the dashboard displays them, including `$ORIGIN`.
 * Also reads an ALIAS, which is displayed as a comment.
 */
export const readZoneFile = (text: string): ReadZone => {
  const zone: Record<string, Records> = {};
  const problems: string[] = [];
  let origin = '';
  for (const raw of text.split('\n')) {
    const one = raw.trim().replace(/\s+/g, ' ');
    const [, start] = /^\$ORIGIN (\S+)$/.exec(one) ?? [];
    if (start !== undefined) origin = start;
    if (one === '' || start !== undefined) continue;
    const [, name = '', type = '', value = ''] = line.exec(one) ?? [];
    if (!isKnown(type)) {
      if (!one.startsWith(';')) problems.push(`"${one}" is no record that this lab knows`);
      continue;
    }
    const fqdn = absolute(name, origin);
    zone[fqdn] = { ...zone[fqdn], [type]: [...(zone[fqdn]?.[type] ?? []), dataOf(type, value)] };
  }
  return { zone, problems };
};

/** Lines that are read back as the same zone. */
export const writeZoneFile = (zone: Zone): string =>
  Object.entries(zone)
    .flatMap(([name, records]) =>
      known.flatMap((type) =>
        (records[type] ?? []).map((data) => `${name}. IN ${type} ${textOf(type, data)}\n`),
      ),
    )
    .join('');

const textOf = (type: Type, data: unknown): string => {
  if (type === 'CAA') {
    const { flags = 0, tag, value } = data as { flags?: number; tag: string; value: string };
    return `${flags} ${tag} "${value}"`;
  }
  if (type === 'TXT') return `"${String(data)}"`;
  return type === 'CNAME' || type === 'ALIAS' ? `${String(data)}.` : String(data);
};

const isKnown = (type: string): type is Type => known.some((one) => one === type);

const absolute = (name: string, origin: string): string => {
  if (name === '@') return origin.replace(/\.+$/, '');
  const full = name.endsWith('.') ? name : `${name}.${origin}`;
  return full.replace(/\.+$/, '');
};

const dataOf = (type: Type, value: string): unknown => {
  const [plain = ''] = value.replace(/ \(.*\)$/, '').split(' ;');
  switch (type) {
    case 'TXT':
      return plain.replace(/^"|"$/g, '');
    case 'CAA': {
      const [flags = '0', tag = '', ...rest] = plain.split(' ');
      return { flags: Number(flags), tag, value: rest.join(' ').replace(/^"|"$/g, '') };
    }
    case 'CNAME':
    case 'ALIAS':
      return plain.replace(/\.$/, '');
    case 'A':
    case 'AAAA':
      return plain;
  }
};

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

/** Bytes are used unchanged as record data, even if they are invalid. */
type Data<Parsed> = readonly (Parsed | Uint8Array)[];

/** The records of a name. */
export interface Records {
  readonly A?: Data<string>;
  readonly AAAA?: Data<string>;
  readonly CNAME?: Data<string>;
  /** Answered with the addresses of the target, like at a provider without CNAME records at the apex. */
  readonly ALIAS?: readonly string[];
  readonly TXT?: Data<string | readonly string[]>;
  readonly CAA?: Data<{ readonly flags?: number; readonly tag: string; readonly value: string }>;
  readonly NS?: Data<string>;
  readonly SOA?: Data<{ readonly mname: string; readonly rname: string; readonly serial?: number }>;
  readonly MX?: Data<{ readonly preference: number; readonly exchange: string }>;
  /** Seconds, 60 by default. */
  readonly TTL?: number;
}

/** Ignores case and the final dot; `*.` at the beginning is a wildcard (RFC 4592). */
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

/** Answers from a zone like a recursive resolver: follows CNAMEs and returns the chain. */
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

  /** The name's records, or those of the wildcard below the closest existing name. */
  #records(name: string): Records | undefined {
    if (this.#exists(name)) return this.#names.get(name);
    let above = name;
    do above = above.slice(above.indexOf('.') + 1);
    while (above.includes('.') && !this.#exists(above));
    return this.#names.get(`*.${above}`);
  }

  /** A name also exists if there is a name below it (RFC 8020). */
  #exists(name: string): boolean {
    return this.#names.has(name) || [...this.#names.keys()].some((its) => its.endsWith(`.${name}`));
  }
}

const ofType = (records: readonly FoundRecord[], type: RecordType): readonly unknown[] =>
  records.filter((record) => record.type === type).map(({ data }) => data);
