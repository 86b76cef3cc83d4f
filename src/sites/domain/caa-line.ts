import type { CaaRecord } from './dns-facts.ts';

/** A record in the form of zone files. */
export const caaLine = (name: string, { flags, tag, value }: CaaRecord): string =>
  `${name}. CAA ${flags} ${tag} ${JSON.stringify(value)}`;

/** The line that lets an authority issue. @param issuers any of them will do; the first one is told */
export const allowingLine = (name: string, [issuer = '']: readonly string[]): string =>
  caaLine(name, { flags: 0, tag: 'issue', value: issuer });
