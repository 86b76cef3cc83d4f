import { DomainError } from '../../../kernel/decision.ts';
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

/** Limit in characters for a typed name. Longer text is never parsed, because IDNA would take very long. */
export const longestTyped = 1000;

/** What only libraries know about a name. */
export interface NameFacts {
  /** The name as A-labels (RFC 5890); '' when IDNA refuses it, or when it is longer than `longestTyped`. */
  readonly ascii: string;
  /** The same name as U-labels, for people. */
  readonly unicode: string;
  /** The public suffix and one label, as A-labels. */
  readonly registrableDomain: string | undefined;
  readonly isPublicSuffix: boolean;
  /** Whether the Public Suffix List names what it ends in. */
  readonly isSuffixKnown: boolean;
  /** Also for a spelling that programs read as an address, like `0x7f.1`. */
  readonly isIp: boolean;
}

export interface NameSettings {
  readonly platformHost: string;
  /** The zone of DNS challenges; undefined where there is none. */
  readonly acmeDnsZone?: string | undefined;
  /** Whether names below `test` (RFC 6761) can be added. */
  readonly allowTestDomains: boolean;
}

/** `*.shop.example.com`: its first label stands for exactly one label of any text (RFC 9525, section 6.3). */
export const isWildcard = (host: string): boolean => host.startsWith('*.');

/** The name below which a wildcard is, which is proven for it and has its CAA records; any other name is its own. */
export const baseOf = (host: string): string => (isWildcard(host) ? host.slice(2) : host);

/** The only wildcard that can cover a name; undefined where none can. No wildcard covers another. */
export const wildcardOver = (host: string): string | undefined => {
  const dot = host.indexOf('.');
  return dot < 1 || isWildcard(host) ? undefined : `*${host.slice(dot)}`;
};

/** The names by which a host can be held or served, in the order in which they count: the exact one wins. */
export const namesFor = (host: string): readonly string[] => {
  const wildcard = wildcardOver(host);
  return wildcard === undefined ? [host] : [host, wildcard];
};

export const covers = (wildcard: string, host: string): boolean => wildcardOver(host) === wildcard;

interface Candidate {
  /** Of a wildcard, the name that it is below: the rules are the same for that. */
  readonly name: string;
  readonly isWildcard: boolean;
  readonly facts: NameFacts;
  readonly settings: NameSettings;
  /** What libraries know about another name, one that may be suggested. */
  readonly read: (name: string) => NameFacts;
}

interface NameRule {
  /** `domain_name_invalid` unless it says otherwise. */
  readonly code?: DomainNameProblem;
  readonly isBroken: (candidate: Candidate) => boolean;
  readonly advice: (candidate: Candidate) => string;
}

/**
 * Characters that a wildcard leaves for the first part of names below it, with its dot: of `_acme-challenge`, where
 * authorities ask for its proof, and of the made-up name that we look up.
 */
const roomBefore = 20;

/** The first broken rule is reported, so the most common mistakes come first. */
const rules: readonly NameRule[] = [
  {
    isBroken: ({ name }) => name === '',
    advice: () => 'Enter a domain name such as shop.example.com.',
  },
  {
    code: 'name_too_long',
    isBroken: ({ name, facts }) => name.length > longestTyped || isTooLong(facts.ascii),
    advice: () =>
      `A name has at most ${longest.name} characters, and ${longest.label} between two dots.`,
  },
  {
    code: 'name_too_long',
    isBroken: (candidate) =>
      candidate.isWildcard && roomBefore + candidate.facts.ascii.length > longest.name,
    advice: () =>
      `A wildcard has at most ${longest.name - roomBefore + 2} characters, so that there can be names below it.`,
  },
  {
    isBroken: ({ name }) => name.includes('//'),
    advice: (candidate) => onlyTheName('That is a web address. Enter only the name', candidate),
  },
  {
    code: 'ip_literal',
    // Browsers read any name that ends in a number as an address (WHATWG URL, "ends in a number checker").
    isBroken: ({ name, facts }) =>
      facts.isIp ||
      /(^|\.)(\d+|0x[0-9a-f]*)\.?(:\d+)?$/.test(name) ||
      /^\[|^[0-9a-f.]*:[0-9a-f]*:/.test(name),
    advice: ({ name }) => `"${shown(name)}" is an IP address. Enter a name and point it there.`,
  },
  {
    code: 'wildcard_unsupported',
    isBroken: ({ name }) => name.includes('*'),
    advice: ({ settings }) =>
      settings.acmeDnsZone === undefined
        ? 'Wildcards are not supported. Add each name by itself, such as shop.example.com.'
        : 'An asterisk can only be the whole first part of a name, such as *.shop.example.com.',
  },
  {
    isBroken: ({ name }) => /:\d*$/.test(name),
    advice: (candidate) => onlyTheName('Leave out the port', candidate),
  },
  {
    isBroken: ({ name }) => /[/\\?#]/.test(name),
    advice: (candidate) => onlyTheName('Leave out what follows the name', candidate),
  },
  {
    isBroken: ({ name }) => name.includes('@'),
    advice: (candidate) => onlyTheName('That is an e-mail address. Enter a name', candidate),
  },
  {
    isBroken: ({ name }) => name.includes('_'),
    advice: () => 'The name of a site has no underscore. Use a hyphen instead.',
  },
  {
    // The joiners are letters of some scripts; IDNA knows where they may stand.
    isBroken: ({ name }) => /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}/u.test(name),
    advice: () => 'There is an invisible character in the name. Type it instead of pasting it.',
  },
  {
    isBroken: ({ name, facts }) => facts.ascii === '' || /(?![a-z0-9.-])\p{ASCII}/u.test(name),
    advice: ({ name }) =>
      `"${shown(name)}" has a character that domain names cannot have. Use letters, digits, hyphens and dots, such as ${usual}.`,
  },
  {
    isBroken: ({ facts }) => facts.ascii.split('.').includes(''),
    advice: ({ name }) => `"${shown(name)}" has an extra dot.`,
  },
  {
    isBroken: ({ facts }) => !facts.ascii.split('.').every(isLabel),
    advice: () => 'Between dots are letters, digits and hyphens, with no hyphen at either end.',
  },
  {
    isBroken: ({ facts }) => hasReservedLabel(facts),
    advice: ({ name }) => `"${shown(name)}" has a part with "--" that is not an encoded name.`,
  },
  {
    code: 'name_reserved',
    isBroken: ({ facts, settings }) => isWithin(facts.ascii, settings.platformHost),
    advice: ({ settings }) =>
      `Names below ${settings.platformHost} are ours, and each project has its own there. Add one of yours.`,
  },
  {
    code: 'name_reserved',
    isBroken: ({ facts, settings: { acmeDnsZone: zone } }) =>
      zone !== undefined && isWithin(facts.ascii, zone),
    advice: ({ settings }) =>
      `Names below ${settings.acmeDnsZone ?? ''} are ours: they answer DNS challenges. Add a name of yours.`,
  },
  {
    code: 'name_reserved',
    isBroken: (candidate) => coveredOfOurs(candidate) !== undefined,
    advice: (candidate) =>
      `"*.${shown(candidate.name)}" also covers ${coveredOfOurs(candidate) ?? ''}, which is ours. Add each name by itself.`,
  },
  {
    code: 'name_reserved',
    isBroken: ({ facts, settings }) => isReserved(facts.ascii, settings),
    advice: ({ name }) =>
      `"${shown(name)}" is reserved and does not exist on the internet. Add a name that you registered.`,
  },
  {
    // The list treats the last label of any name as a suffix. "test" is handled by an earlier rule.
    isBroken: ({ facts }) => !facts.isSuffixKnown && !isWithin(facts.ascii, 'test'),
    advice: ({ name }) =>
      `".${shown(lastLabel(name))}" is not a known top-level domain. Check the spelling, and enter a name that you registered, such as ${usual}.`,
  },
  {
    code: 'public_suffix',
    isBroken: ({ facts }) => facts.isPublicSuffix || facts.registrableDomain === undefined,
    advice: (candidate) => {
      const { name } = candidate;
      const below = accepted([`example.${name}`, `shop.example.${name}`], candidate) ?? usual;
      return `Others register their domains below "${shown(name)}". Add one of yours, such as ${below}`;
    },
  },
];

/** @param name as `cleanName` leaves it */
const candidateOf = (name: string, read: Candidate['read'], settings: NameSettings): Candidate => {
  // They can only be proven by DNS.
  const isOne = settings.acmeDnsZone !== undefined && isWildcard(name);
  const proven = isOne ? baseOf(name) : name;
  return { name: proven, isWildcard: isOne, facts: read(proven), settings, read };
};

/** @returns the first rule that the name breaks, with what would be right */
const brokenNameRule = (
  candidate: Candidate,
): { readonly code: DomainNameProblem; readonly advice: string } | undefined => {
  const rule = ruleBrokenBy(candidate);
  return rule && { code: rule.code ?? 'domain_name_invalid', advice: rule.advice(candidate) };
};

const ruleBrokenBy = (candidate: Candidate): NameRule | undefined =>
  rules.find(({ isBroken }) => isBroken(candidate));

const usual = 'shop.example.com';

/** @returns the first name that could be added, so that every suggestion works */
const accepted = (names: readonly string[], { settings, read }: Candidate): string | undefined =>
  names.find((name) => !ruleBrokenBy(candidateOf(name, read, settings)));

const onlyTheName = (advice: string, candidate: Candidate): string => {
  const name = accepted([hostIn(candidate.name)], candidate);
  return name === undefined ? `${advice}, such as ${usual}` : `${advice}: ${name}`;
};

const coveredOfOurs = ({ isWildcard: isOne, facts, settings }: Candidate): string | undefined =>
  [settings.platformHost, settings.acmeDnsZone].find(
    (ours) => isOne && ours !== undefined && covers(`*.${facts.ascii}`, ours),
  );

// What the rules for names ask of texts.

const longest = { label: 63, name: 253 } as const;

/** RFC 2606, RFC 6761, RFC 6762, RFC 7686, RFC 8375; `internal` is ICANN's for private use. */
const reserved = ['example', 'invalid', 'localhost', 'local', 'internal', 'home.arpa', 'onion'];

const isTooLong = (ascii: string): boolean =>
  ascii.length > longest.name || ascii.split('.').some((label) => label.length > longest.label);

const isLabel = (label: string): boolean => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label);

/** "--" in third place means an encoding, and the only one there is begins with "xn" (RFC 5890, 2.3.1). */
const hasReservedLabel = ({ ascii, unicode }: NameFacts): boolean => {
  const decoded = unicode.split('.');
  return ascii
    .split('.')
    .some((label, at) => label.startsWith('--', 2) && /^\p{ASCII}*$/u.test(decoded[at] ?? ''));
};

const lastLabel = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

const isWithin = (host: string, zone: string): boolean =>
  host === zone || host.endsWith(`.${zone}`);

/** Never a name on the internet. */
const isReserved = (
  ascii: string,
  { allowTestDomains }: Pick<NameSettings, 'allowTestDomains'>,
): boolean =>
  [...reserved, ...(allowTestDomains ? [] : ['test'])].some((zone) => isWithin(ascii, zone));

/** The name in a web or e-mail address. */
const hostIn = (text: string): string => {
  const scheme = text.indexOf('//');
  const [authority = ''] = (scheme === -1 ? text : text.slice(scheme + 2)).split(/[/\\?#]/, 1);
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '');
};

const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
