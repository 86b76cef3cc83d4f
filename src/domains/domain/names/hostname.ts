import { DomainError } from '../../../kernel/decision.ts';
import type { DomainNameProblem } from '../domains-error.ts';

export interface Hostname {
  /** A-labels in lower case, without a final dot; a wildcard starts with `*.`. */
  readonly host: string;
  readonly unicode: string;
  readonly registrableDomain: string;
  /** The labels before the registrable domain, such as `shop` or `a.b`; empty at an apex. */
  readonly labels: string;
  readonly isApex: boolean;
}

export const cleanName = (raw: string): string => raw.trim().replace(/\.$/, '').toLowerCase();

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

/** Returns the `www` name of a registrable domain, and vice versa. @returns undefined if it cannot be added */
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

export const hostMeant = (raw: string, read: (name: string) => NameFacts): string => {
  const name = cleanName(raw);
  const { ascii } = read(baseOf(name));
  return isWildcard(name) ? `*.${ascii}` : ascii;
};

/** Adds the A-labels to an internationalised name, because letters of different scripts can look the same. */
export const shownHost = ({ host, unicode }: Pick<Hostname, 'host' | 'unicode'>): string =>
  host === unicode ? host : `${unicode} (${host})`;

export const nameInText = (named: {
  readonly host: string;
  readonly unicodeHost: string;
}): string => shownHost({ host: named.host, unicode: named.unicodeHost });

/** Longer text is never parsed, because IDNA would take very long. */
export const longestTyped = 1000;

export interface NameFacts {
  readonly ascii: string;
  readonly unicode: string;
  readonly registrableDomain: string | undefined;
  readonly isPublicSuffix: boolean;
  readonly isSuffixKnown: boolean;
  /** Includes spellings that programs read as an address, such as `0x7f.1`. */
  readonly isIp: boolean;
}

export interface NameSettings {
  readonly platformHost: string;
  readonly acmeDnsZone?: string | undefined;
  readonly allowTestDomains: boolean;
}

/** The `*` stands for exactly one label (RFC 9525, section 6.3). */
export const isWildcard = (host: string): boolean => host.startsWith('*.');

/** The name without `*.`, which is what a wildcard proves and where its CAA records are. */
export const baseOf = (host: string): string => (isWildcard(host) ? host.slice(2) : host);

export const wildcardOver = (host: string): string | undefined => {
  const dot = host.indexOf('.');
  return dot < 1 || isWildcard(host) ? undefined : `*${host.slice(dot)}`;
};

export const namesFor = (host: string): readonly string[] => {
  const wildcard = wildcardOver(host);
  return wildcard === undefined ? [host] : [host, wildcard];
};

export const covers = (wildcard: string, host: string): boolean => wildcardOver(host) === wildcard;

interface Candidate {
  readonly name: string;
  readonly isWildcard: boolean;
  readonly facts: NameFacts;
  readonly settings: NameSettings;
  readonly read: (name: string) => NameFacts;
}

interface NameRule {
  readonly code?: DomainNameProblem;
  readonly isBroken: (candidate: Candidate) => boolean;
  readonly advice: (candidate: Candidate) => string;
}

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
    // Browsers read names that end in a number as addresses (WHATWG URL, "ends in a number checker").
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
        ? 'Wildcards are not supported. Add each name separately, such as shop.example.com.'
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
    advice: (candidate) => onlyTheName('That is an email address. Enter a name', candidate),
  },
  {
    isBroken: ({ name }) => name.includes('_'),
    advice: () => 'The name of a site has no underscore. Use a hyphen instead.',
  },
  {
    // Joiners are letters of some scripts; IDNA checks their position.
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
    advice: () =>
      'Parts between dots have letters, digits and hyphens, and no hyphen at either end.',
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
      `"*.${shown(candidate.name)}" also covers ${coveredOfOurs(candidate) ?? ''}, which is ours. Add each name separately.`,
  },
  {
    code: 'name_reserved',
    isBroken: ({ facts, settings }) => isReserved(facts.ascii, settings),
    advice: ({ name }) =>
      `"${shown(name)}" is reserved and does not exist on the internet. Add a name that you registered.`,
  },
  {
    // The list treats any last label as a suffix. "test" has an earlier rule.
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

const candidateOf = (name: string, read: Candidate['read'], settings: NameSettings): Candidate => {
  const isOne = settings.acmeDnsZone !== undefined && isWildcard(name);
  const proven = isOne ? baseOf(name) : name;
  return { name: proven, isWildcard: isOne, facts: read(proven), settings, read };
};

const brokenNameRule = (
  candidate: Candidate,
): { readonly code: DomainNameProblem; readonly advice: string } | undefined => {
  const rule = ruleBrokenBy(candidate);
  return rule && { code: rule.code ?? 'domain_name_invalid', advice: rule.advice(candidate) };
};

const ruleBrokenBy = (candidate: Candidate): NameRule | undefined =>
  rules.find(({ isBroken }) => isBroken(candidate));

const usual = 'shop.example.com';

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

const longest = { label: 63, name: 253 } as const;

/** RFC 2606, RFC 6761, RFC 6762, RFC 7686, RFC 8375; ICANN reserved `internal` for private use. */
const reserved = ['example', 'invalid', 'localhost', 'local', 'internal', 'home.arpa', 'onion'];

const isTooLong = (ascii: string): boolean =>
  ascii.length > longest.name || ascii.split('.').some((label) => label.length > longest.label);

const isLabel = (label: string): boolean => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label);

/** "--" in the third place marks an encoding, and only "xn" exists (RFC 5890, section 2.3.1). */
const hasReservedLabel = ({ ascii, unicode }: NameFacts): boolean => {
  const decoded = unicode.split('.');
  return ascii
    .split('.')
    .some((label, at) => label.startsWith('--', 2) && /^\p{ASCII}*$/u.test(decoded[at] ?? ''));
};

const lastLabel = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** Compares whole labels: `evil-example.com` is not within `example.com`. */
export const isWithin = (host: string, zone: string): boolean =>
  host === zone || host.endsWith(`.${zone}`);

const isReserved = (
  ascii: string,
  { allowTestDomains }: Pick<NameSettings, 'allowTestDomains'>,
): boolean =>
  [...reserved, ...(allowTestDomains ? [] : ['test'])].some((zone) => isWithin(ascii, zone));

const hostIn = (text: string): string => {
  const scheme = text.indexOf('//');
  const [authority = ''] = (scheme === -1 ? text : text.slice(scheme + 2)).split(/[/\\?#]/, 1);
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '');
};

const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
