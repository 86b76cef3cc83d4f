import { isWithin } from '../../domains/domain/names/hostname.ts';
import { listenersOf, type Listening } from './addresses.ts';
import type { Config } from './settings.ts';
import { leastCharacters } from './setting-schemas.ts';

// Finds well-formed settings that conflict or endanger users. Returns one fault for each finding.

type Set = Readonly<Record<string, string | undefined>>;

export const howToMakeOne = 'make one: openssl rand -hex 32';

export const when = (holds: boolean, text: string): readonly string[] => (holds ? [text] : []);

/** Checks the given settings, even if others are invalid. @param set without empty settings */
export const faultsOfGiven = (set: Set): readonly string[] => [
  ...secretFaults(set),
  ...both(set, 'ACME_EAB_KID', 'ACME_EAB_HMAC'),
  ...both(set, 'ACME_FALLBACK_EAB_KID', 'ACME_FALLBACK_EAB_HMAC'),
  ...fallbackFaults(set),
  ...both(set, 'PLATFORM_CERTIFICATE_FILE', 'PLATFORM_KEY_FILE'),
  ...when(
    set['SMTP_URL'] !== undefined && set['MAIL_FROM'] === undefined,
    'MAIL_FROM: is required with SMTP_URL; an address of yours, like store@shop.example',
  ),
];

export const faultsOf = (config: Config): readonly string[] => [
  ...when(
    isReadable(config) && !isOnThisMachine(config.publicUrl),
    `PUBLIC_URL: must be https with NODE_ENV=production: over ${config.publicUrl} anybody on the network could read API keys, ` +
      'passwords and sessions. Put a TLS proxy in front of the service and set PUBLIC_URL to its address',
  ),
  ...platformFaults(config),
  ...zoneFaults(config),
  ...processFaults(config),
];

const both = (set: Set, one: string, other: string): readonly string[] =>
  when(
    (set[one] === undefined) !== (set[other] === undefined),
    `${one}, ${other}: set both or neither`,
  );

const secretFaults = (set: Set): readonly string[] => {
  const production = set['NODE_ENV'] === 'production';
  const secretKey = set['SECRET_KEY'];
  if (secretKey === undefined) {
    return when(production, `SECRET_KEY: is required with NODE_ENV=production; ${howToMakeOne}`);
  }
  if (secretKey === set['SECRET_KEY_PREVIOUS']) {
    return ['SECRET_KEY_PREVIOUS: must differ from SECRET_KEY'];
  }
  const isJudged = production && secretKey.length >= leastCharacters;
  const weakness = isJudged ? weaknessOf(secretKey) : undefined;
  return weakness === undefined
    ? []
    : [`SECRET_KEY: can be guessed: it ${weakness}; ${howToMakeOne}`];
};

const fallbackDirectory = 'ACME_FALLBACK_DIRECTORY_URL';
const ofFallback = [
  ...['ACME_FALLBACK_EMAIL', 'ACME_FALLBACK_EAB_KID', 'ACME_FALLBACK_EAB_HMAC'],
  'CAA_FALLBACK_ISSUER',
];

const fallbackFaults = (set: Set): readonly string[] => {
  const [preferred, fallback] = [set['ACME_DIRECTORY_URL'], set[fallbackDirectory]];
  if (fallback === undefined) {
    const alone = ofFallback.filter((name) => set[name] !== undefined);
    const text = `${alone.join(', ')}: no effect without ${fallbackDirectory}`;
    return when(alone.length > 0, text);
  }
  if (preferred === undefined) {
    return [`${fallbackDirectory}: needs ACME_DIRECTORY_URL, which is the preferred authority`];
  }
  return when(
    hostIn(preferred) === hostIn(fallback),
    `${fallbackDirectory}: must be another authority than ACME_DIRECTORY_URL, at another host`,
  );
};

const hostIn = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

/** Sites must not share a parent domain with the dashboard, because their scripts could set its cookies. */
const platformFaults = ({
  publicUrl,
  platformHost,
}: Pick<Config, 'publicUrl' | 'platformHost'>): readonly string[] => {
  const host = new URL(publicUrl).hostname;
  return when(
    isWithin(host, platformHost),
    `PLATFORM_HOST: must not be ${platformHost}: the dashboard's host ${host} is part of it, so a published site ` +
      'could set cookies for the dashboard. Use a sibling name, like sites.shop.example for app.shop.example',
  );
};

const zoneFaults = ({
  roles,
  acmeDnsZone: zone,
  platformHost,
  publicUrl,
}: Config): readonly string[] => {
  if (zone === undefined) {
    const needed =
      'ACME_DNS_ZONE: is required with the role dns, which answers for this zone alone';
    return when(roles.includes('dns'), needed);
  }
  const { hostname } = new URL(publicUrl);
  return [
    ...when(isWithin(platformHost, zone), hides('PLATFORM_HOST', platformHost)),
    ...when(isWithin(hostname, zone), hides('PUBLIC_URL', hostname)),
    ...when(
      isWithin(zone, platformHost) && zone !== platformHost,
      `ACME_DNS_ZONE: must not be in ${platformHost} (PLATFORM_HOST): a project could get the name of the zone or of its ` +
        'name server for its site. Use a zone beside it, like acme.shop.example for sites.shop.example',
    ),
  ];
};

const hides = (setting: string, name: string): string =>
  `ACME_DNS_ZONE: ${name} (${setting}) must not be in this zone: it only answers DNS challenges, so nobody would find ` +
  'that name. Use a zone beside it, like acme.shop.example';

export const isWorkerAlone = (roles: readonly string[]): boolean =>
  roles.every((role) => role === 'worker');

const processFaults = ({ processes, roles, redisUrl }: Config): readonly string[] => {
  if (processes === 1) return [];
  const counts = roles.includes('api') || roles.includes('dashboard');
  return [
    ...when(
      counts && redisUrl === undefined,
      `PROCESSES: ${String(processes)} processes with the role api or dashboard need REDIS_URL: without it each counts ` +
        'requests alone, so an account could use several times its plan. Set REDIS_URL, or PROCESSES=1',
    ),
    ...when(
      isWorkerAlone(roles),
      'PROCESSES: must be 1 with ROLES=worker: only one of several processes has that role',
    ),
  ];
};

export const portClashes = (config: Listening): readonly string[] =>
  listenersOf(config).flatMap((one, at, all) =>
    all
      .slice(at + 1)
      .filter(({ host, port }) => port !== 0 && port === one.port && overlap(host, one.host))
      .map(
        ({ setting, port }) =>
          `${one.setting}, ${setting}: must be different ports; both are ${String(port)}`,
      ),
  );

const overlap = (one: string, other: string): boolean =>
  one === other || covers(one, other) || covers(other, one);

const covers = (everywhere: string, host: string): boolean =>
  everywhere === '::' || (everywhere === '0.0.0.0' && !host.includes(':'));

export const isReadable = ({
  production,
  roles,
  publicUrl,
}: Pick<Config, 'production' | 'roles' | 'publicUrl'>): boolean =>
  production &&
  (roles.includes('api') || roles.includes('dashboard')) &&
  publicUrl.startsWith('http:');

export const isOnThisMachine = (url: string): boolean =>
  /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** The least bits of a whole key. 32 random hexadecimal digits have 128 bits; 32 letters of words or 32 digits have 80. */
const leastBits = 82;
/** Letters of one case count like words: about 12 bits for five letters. */
const bitsPerCharacter = { word: 2.5, digits: 2.5, mixed: 4 } as const;
const leastDifferent = 0.8;
const mostInSequence = 0.5;
const keyboard = '1234567890 qwertyuiop asdfghjkl zxcvbnm';

/** Finds weak secrets, but cannot prove that a secret is random. @returns undefined if no weakness was found */
export const weaknessOf = (secret: string): string | undefined => {
  if (repeats(secret)) return 'repeats itself';
  if (runsInSequence(secret.toLowerCase()))
    return 'follows the alphabet, the digits or the keyboard';
  if (guessedBits(secret) < leastBits)
    return 'is made of words, or of too few different characters';
  return undefined;
};

const repeats = (secret: string): boolean => {
  const pieces = Array.from({ length: secret.length - 3 }, (_, at) => secret.slice(at, at + 4));
  return new Set(pieces).size < pieces.length * leastDifferent;
};

const runsInSequence = (secret: string): boolean => {
  let followers = 0;
  for (let at = 1; at < secret.length; at++) {
    const step = secret.charCodeAt(at) - secret.charCodeAt(at - 1);
    const pair = secret.slice(at - 1, at + 1);
    if (Math.abs(step) === 1 || keyboard.includes(pair)) followers += 1;
  }
  return followers > (secret.length - 1) * mostInSequence;
};

const guessedBits = (secret: string): number => {
  const pieces = new Set(secret.split(/[^\p{L}\p{N}]+/u));
  return [...pieces].reduce(
    (bits, piece) => bits + piece.length * bitsPerCharacter[kindOf(piece)],
    0,
  );
};

const kindOf = (piece: string): keyof typeof bitsPerCharacter => {
  if (/^\d+$/.test(piece)) return 'digits';
  return /^\p{L}\p{Ll}*$|^\p{Lu}*$/u.test(piece) ? 'word' : 'mixed';
};
