import { DomainError } from '../../../kernel/decision.ts';
import {
  type NameFacts,
  type NameSettings,
  brokenNameRule,
  candidateOf,
  baseOf,
  isWildcard,
} from './name-rules.ts';
import type { DomainNameProblem } from '../domains-error.ts';

/** The name of a site, as it is kept and compared. */
export interface Hostname {
  /** A-labels in lower case, without a dot at the end; of a wildcard, the first label is an asterisk. */
  readonly host: string;
  readonly unicode: string;
  readonly registrableDomain: string;
  /** The labels before the registrable domain, like `shop` or `a.b`; '' at an apex. */
  readonly labels: string;
  readonly isApex: boolean;
}

/** Normalises a typed name: no surrounding blanks, no dot at the end, lower case. */
export const cleanName = (raw: string): string => raw.trim().replace(/\.$/, '').toLowerCase();

/**
 * @param read gives the facts about a name, as `cleanName` leaves it
 * @throws DomainError with a `DomainNameProblem`
 */
export const parseHostname = (
  raw: string,
  read: (name: string) => NameFacts,
  settings: NameSettings,
): Hostname => {
  const candidate = candidateOf(cleanName(raw), read, settings);
  const broken = brokenNameRule(candidate);
  if (broken) throw new DomainError<DomainNameProblem>(broken.code, broken.advice);
  return hostnameOf(candidate);
};

const hostnameOf = ({ facts, isWildcard: isAny }: ReturnType<typeof candidateOf>): Hostname => {
  const { ascii, unicode: letters, registrableDomain = ascii } = facts;
  const [host, unicode] = isAny ? [`*.${ascii}`, `*.${letters}`] : [ascii, letters];
  const labels = host === registrableDomain ? '' : host.slice(0, -registrableDomain.length - 1);
  return { host, unicode, registrableDomain, labels, isApex: labels === '' };
};

const www = 'www.';

/**
 * The other of a registrable domain and its `www`.
 * @returns undefined for any other name, and where the other one could not be added, such as `co.uk` for `www.co.uk`
 */
export const otherOfPair = (
  { host, registrableDomain }: Pick<Hostname, 'host' | 'registrableDomain'>,
  read: (name: string) => NameFacts,
  settings: NameSettings,
): Hostname | undefined => {
  const isWww = host.startsWith(www);
  if (host !== (isWww ? `${www}${registrableDomain}` : registrableDomain)) return undefined;
  const other = isWww ? registrableDomain : `${www}${host}`;
  const candidate = candidateOf(other, read, settings);
  return brokenNameRule(candidate) ? undefined : hostnameOf(candidate);
};

/** The host that a typed name means, as it is kept; '' where it means none. */
export const hostMeant = (raw: string, read: (name: string) => NameFacts): string => {
  const name = cleanName(raw);
  const { ascii } = read(baseOf(name));
  return isWildcard(name) ? `*.${ascii}` : ascii;
};

/** Adds the A-labels to an internationalised name, because letters of different scripts can look the same. */
export const shownHost = ({ host, unicode }: Pick<Hostname, 'host' | 'unicode'>): string =>
  host === unicode ? host : `${unicode} (${host})`;

/** The same of a stored domain. */
export const nameInText = (named: {
  readonly host: string;
  readonly unicodeHost: string;
}): string => shownHost({ host: named.host, unicode: named.unicodeHost });
