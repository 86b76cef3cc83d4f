import { DomainError } from '../../../kernel/domain-error.ts';
import type { NameFacts, NameSettings } from './name-facts.ts';
import { brokenNameRule } from './name-rules.ts';
import type { DomainNameProblem } from '../domains-error.ts';

/** The name of a site, as it is kept and compared. */
export interface Hostname {
  /** A-labels in lower case, without a dot at the end. */
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
  const name = cleanName(raw);
  const facts = read(name);
  const broken = brokenNameRule({ name, facts, settings, read });
  if (broken) throw new DomainError<DomainNameProblem>(broken.code, broken.advice);
  const { ascii: host, unicode, registrableDomain = host } = facts;
  const labels = host === registrableDomain ? '' : host.slice(0, -registrableDomain.length - 1);
  return { host, unicode, registrableDomain, labels, isApex: labels === '' };
};

/** Adds the A-labels to an internationalised name, because letters of different scripts can look the same. */
export const shownHost = ({ host, unicode }: Pick<Hostname, 'host' | 'unicode'>): string =>
  host === unicode ? host : `${unicode} (${host})`;
