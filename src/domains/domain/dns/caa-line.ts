import type { CaaRecord } from './facts.ts';
import { shortened } from './shortened.ts';

const longestValue = 200;

/** A record in the form of zone files; a long value is cut. */
export const caaLine = (name: string, { flags, tag, value }: CaaRecord): string =>
  `${name}. CAA ${flags} ${tag} ${JSON.stringify(shortened(value, longestValue))}`;

/** The line that lets an authority issue. @param issuers any of them would do; the first is used */
export const allowingLine = (name: string, [issuer = '']: readonly string[]): string =>
  caaLine(name, { flags: 0, tag: 'issue', value: issuer });
