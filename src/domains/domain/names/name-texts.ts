import type { NameFacts, NameSettings } from './name-facts.ts';

// What the rules for names ask of texts.

export const longest = { label: 63, name: 253 } as const;

/** RFC 2606, RFC 6761, RFC 6762, RFC 7686, RFC 8375; `internal` is ICANN's for private use. */
const reserved = ['example', 'invalid', 'localhost', 'local', 'internal', 'home.arpa', 'onion'];

export const isTooLong = (ascii: string): boolean =>
  ascii.length > longest.name || ascii.split('.').some((label) => label.length > longest.label);

export const isLabel = (label: string): boolean => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label);

/** "--" in third place means an encoding, and the only one there is begins with "xn" (RFC 5890, 2.3.1). */
export const hasReservedLabel = ({ ascii, unicode }: NameFacts): boolean => {
  const decoded = unicode.split('.');
  return ascii
    .split('.')
    .some((label, at) => label.startsWith('--', 2) && /^\p{ASCII}*$/u.test(decoded[at] ?? ''));
};

export const lastLabel = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

export const isWithin = (host: string, zone: string): boolean =>
  host === zone || host.endsWith(`.${zone}`);

/** Never a name on the internet. */
export const isReserved = (
  ascii: string,
  { allowTestDomains }: Pick<NameSettings, 'allowTestDomains'>,
): boolean =>
  [...reserved, ...(allowTestDomains ? [] : ['test'])].some((zone) => isWithin(ascii, zone));

/** The name in a web or e-mail address. */
export const hostIn = (text: string): string => {
  const scheme = text.indexOf('//');
  const [authority = ''] = (scheme === -1 ? text : text.slice(scheme + 2)).split(/[/\\?#]/, 1);
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '');
};

export const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
