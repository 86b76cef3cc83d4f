import type { Config } from './settings.ts';
import { howToMakeOne, isOnThisMachine, isReadable, weaknessOf, when } from './faults.ts';

export const safetyWarnings = (config: Config): readonly string[] => {
  const { production, publicUrl, secretKey = '', s3Endpoint = '' } = config;
  const weakness = secretKey === '' || production ? undefined : weaknessOf(secretKey);
  return [
    ...when(
      isReadable(config) && isOnThisMachine(publicUrl),
      `PUBLIC_URL is ${publicUrl}: only this machine can reach it, and without TLS. Set it to the https ` +
        'address that clients use.',
    ),
    ...(production && hasSites(config) ? siteWarnings(config) : []),
    ...when(
      production && s3Endpoint.startsWith('http:') && !isOnThisMachine(s3Endpoint),
      `S3_ENDPOINT is ${s3Endpoint}: anybody on the network could change published sites. Use https.`,
    ),
    ...when(
      weakness !== undefined,
      `SECRET_KEY ${weakness ?? ''}: production refuses it; ${howToMakeOne}.`,
    ),
  ];
};

const hasSites = ({ roles }: Config): boolean => roles.includes('edge') || roles.includes('worker');

const siteWarnings = ({ acme, platformHost, platformAddresses }: Config): readonly string[] => [
  ...when(
    acme === undefined,
    'ACME_DIRECTORY_URL is not set: the service signs the certificates of sites and domains itself, and no ' +
      "browser trusts them. Set the directory of a certificate authority, such as Let's Encrypt.",
  ),
  ...when(
    reservedZone.test(platformHost),
    `PLATFORM_HOST is ${platformHost}: this name can never be in public DNS, so nobody reaches the sites. Set a ` +
      'zone of yours.',
  ),
  ...when(
    platformAddresses.some((one) => one.startsWith('127.') || one === '::1'),
    `PLATFORM_ADDRESSES is ${platformAddresses.join(', ')}: only this machine can reach a loopback address. Set ` +
      "the edges' public addresses, which customers enter in their DNS.",
  ),
];

/** Zones that RFC 6761, RFC 8375 and RFC 9476 reserve. */
const reservedZone = /(^|\.)(test|example|invalid|localhost|local|internal|home\.arpa|alt)$/;

const leastLetters = 8;
const mostWrong = 2;

/** Finds variables that look like misspelt settings, because they would have no effect. */
export const nearNames = (
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): readonly string[] =>
  Object.keys(environment)
    .filter((name) => name.length >= leastLetters && !known.includes(name))
    .flatMap((name) => {
      const meant = known.find((one) => differingLetters(name.toUpperCase(), one) <= mostWrong);
      return meant === undefined
        ? []
        : [`${name} is not a setting and has no effect. Did you mean ${meant}?`];
    });

/** Computes the Levenshtein distance. */
const differingLetters = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [place, wanted] of [...other].entries()) {
      const changed = (row[place] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(changed, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};
