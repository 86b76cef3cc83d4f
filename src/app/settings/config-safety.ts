import { leastCharacters, weaknessOf } from './secret-strength.ts';

interface Exposed {
  readonly production: boolean;
  readonly roles: readonly string[];
  readonly publicUrl: string;
  readonly platformHost: string;
  readonly platformAddresses: readonly string[];
  readonly acme: object | undefined;
  readonly secretKey: string | undefined;
  readonly previousSecretKey: string | undefined;
  readonly s3Endpoint: string | undefined;
}

const howToMakeOne = 'make one: openssl rand -hex 32';

/** The sentence, if it holds. */
export const when = (holds: boolean, text: string): readonly string[] => (holds ? [text] : []);

/** Well-formed addresses that would put users at risk, one fault each. */
export const addressFaults = (config: Exposed): readonly string[] => [
  ...when(
    isReadable(config) && !isLoopback(config),
    `PUBLIC_URL: must be https with NODE_ENV=production: over ${config.publicUrl} anybody on the network could read API keys, ` +
      'passwords and sessions. Put a TLS proxy in front of the service and set PUBLIC_URL to its address',
  ),
  ...platformFaults(config),
];

/** Settings that are allowed but risky, one sentence each. */
export const safetyWarnings = (config: Exposed): readonly string[] => {
  const { production, publicUrl, secretKey = '', s3Endpoint = '' } = config;
  const weakness = secretKey === '' || production ? undefined : weaknessOf(secretKey);
  return [
    ...when(
      isReadable(config) && isLoopback(config),
      `PUBLIC_URL is ${publicUrl}: only this machine can reach it, and without TLS. Set it to the https ` +
        'address that clients use.',
    ),
    ...(production && hasSites(config) ? siteWarnings(config) : []),
    ...when(
      production && s3Endpoint.startsWith('http:') && !isOnThisMachine(s3Endpoint),
      `S3_ENDPOINT is ${s3Endpoint}: anybody on the network between could change published sites. Use https.`,
    ),
    ...when(
      weakness !== undefined,
      `SECRET_KEY ${weakness ?? ''}: production refuses it; ${howToMakeOne}.`,
    ),
  ];
};

const siteWarnings = ({ acme, platformHost, platformAddresses }: Exposed): readonly string[] => [
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
    platformAddresses.some(isLoopbackAddress),
    `PLATFORM_ADDRESSES is ${platformAddresses.join(', ')}: only this machine can reach a loopback address. Set ` +
      "the edges' public addresses, which customers enter in their DNS.",
  ),
];

const isLoopbackAddress = (address: string): boolean =>
  address.startsWith('127.') || address === '::1';

/** RFC 6761, RFC 8375, RFC 9476. */
const reservedZone = /(^|\.)(test|example|invalid|localhost|local|internal|home\.arpa|alt)$/;

/** Checked even if other settings are faulty, so that one message lists all faults. */
export const secretFaults = ({
  production,
  secretKey,
  previousSecretKey,
}: Pick<Exposed, 'production' | 'secretKey' | 'previousSecretKey'>): readonly string[] => {
  if (secretKey === undefined) {
    return production ? [`SECRET_KEY: is required with NODE_ENV=production; ${howToMakeOne}`] : [];
  }
  if (secretKey === previousSecretKey) {
    return ['SECRET_KEY_PREVIOUS: must differ from SECRET_KEY'];
  }
  // One that is too short is a fault already.
  const isJudged = production && secretKey.length >= leastCharacters;
  const weakness = isJudged ? weaknessOf(secretKey) : undefined;
  return weakness === undefined
    ? []
    : [`SECRET_KEY: can be guessed: it ${weakness}; ${howToMakeOne}`];
};

/**
 * Published sites must not share a parent domain with the dashboard, because their scripts could set cookies for it.
 */
const platformFaults = ({ publicUrl, platformHost }: Exposed): readonly string[] => {
  const host = new URL(publicUrl).hostname;
  if (host !== platformHost && !host.endsWith(`.${platformHost}`)) return [];
  return [
    `PLATFORM_HOST: must not be ${platformHost}: the dashboard's host ${host} is part of it, so a published site ` +
      'could set cookies for the dashboard. Use a sibling name, like sites.shop.example for app.shop.example',
  ];
};

/** Whether others could read what browsers and clients send. */
const isReadable = ({ production, roles, publicUrl }: Exposed): boolean =>
  production &&
  (roles.includes('api') || roles.includes('dashboard')) &&
  publicUrl.startsWith('http:');

const hasSites = ({ roles }: Exposed): boolean =>
  roles.includes('edge') || roles.includes('worker');

const isLoopback = ({ publicUrl }: Exposed): boolean => isOnThisMachine(publicUrl);

const isOnThisMachine = (url: string): boolean =>
  /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
