import type { Records, Zone } from './zone.ts';

const known = ['A', 'AAAA', 'CNAME', 'ALIAS', 'TXT', 'CAA'] as const;
type Type = (typeof known)[number];

/** Lines that mean nothing, with why. */
export interface ReadZone {
  readonly zone: Zone;
  readonly problems: readonly string[];
}

const line = /^;? ?(\S+)(?: \d+)?(?: IN)? ([A-Z]+) (.+)$/;

/**
 * Reads lines of a zone file (RFC 1035, section 5.1) as the dashboard shows them, `$ORIGIN` included. An ALIAS, which
 * stands there as a comment, counts too.
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

/** Lines that read as that zone again. */
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

const absolute = (name: string, origin: string): string =>
  (name === '@' ? origin : name.endsWith('.') ? name : `${name}.${origin}`).replace(/\.+$/, '');

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
