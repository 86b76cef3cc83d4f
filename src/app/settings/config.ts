import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { validate } from 'node-cron';
import * as v from 'valibot';
import { addressFaults, secretFaults } from './config-safety.ts';
import { portClashes } from './port-clashes.ts';
import { leastCharacters } from './secret-strength.ts';

const roles = ['api', 'dashboard', 'edge', 'worker'] as const;
type Role = (typeof roles)[number];

export interface Config {
  readonly production: boolean;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  readonly operationsHost: string;
  /** Undefined: health and metrics are on `port`. */
  readonly operationsPort: number | undefined;
  /** Absolute, ends in /v1, no slash at its end. */
  readonly publicUrl: string;
  readonly stagingUrl: string | undefined;
  readonly roles: readonly Role[];
  readonly edgeHost: string;
  readonly edgeHttpPort: number;
  readonly edgeHttpsPort: number;
  /** Undefined: visitors come to the port that the edge listens on. */
  readonly edgePublicPort: number | undefined;
  /** Lower case. Every project's own host is directly below it. */
  readonly platformHost: string;
  /** What an apex has to resolve to. */
  readonly platformAddresses: readonly string[];
  readonly allowTestDomains: boolean;
  /** Custom domains of an account on plan enterprise. */
  readonly enterpriseDomainLimit: number;
  readonly enterpriseProjectLimit: number;
  readonly enterpriseStorageGib: number;
  /** `ip[:port]`, each asked by itself. */
  readonly dnsServers: readonly string[];
  /** Undefined: certificates come from a local authority, for development. */
  readonly acme: AcmeConfig | undefined;
  /** node-cron expression: how often to look for due domains. */
  readonly verifierSchedule: string;
  /** Undefined: the one in the data folder is used, and made when it is missing. */
  readonly secretKey: string | undefined;
  /** The key that is being replaced; it still opens and verifies older values. */
  readonly previousSecretKey: string | undefined;
  readonly logLevel: string;
  readonly corsOrigins: readonly string[];
  /** Undefined: this process counts requests by itself. */
  readonly redisUrl: string | undefined;
  readonly trustProxy: number;
  readonly petByIdDeprecatedSince: Date;
  /** For so many seconds /readyz answers 503 before the process stops listening. */
  readonly drainSeconds: number;
}

export interface AcmeConfig {
  readonly directoryUrl: string;
  readonly email: string | undefined;
  readonly eab: { readonly kid: string; readonly hmac: string } | undefined;
  readonly issuers: readonly string[];
}

/** Everything that is wrong with the settings, in one message. */
export class ConfigFault extends Error {
  override readonly name = 'ConfigFault';

  constructor(faults: readonly string[]) {
    const count = faults.length === 1 ? 'a fault' : `${String(faults.length)} faults`;
    super(
      `The settings have ${count}:\n${faults.map((fault) => `  ${fault}`).join('\n')}\n` +
        'docs/operations.md lists every setting with its default.',
    );
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws ConfigFault that lists every fault at once */
export const loadConfig = (environment: Environment): Config => {
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const result = v.safeParse(settings, set, { abortPipeEarly: true });
  const faults = result.success
    ? []
    : result.issues.map(({ path, message }) => `${String(path?.[0]?.key)}: ${message}`);
  faults.push(
    ...secretFaults({
      production: set['NODE_ENV'] === 'production',
      secretKey: set['SECRET_KEY'],
      previousSecretKey: set['SECRET_KEY_PREVIOUS'],
    }),
  );
  if ((set['ACME_EAB_KID'] === undefined) !== (set['ACME_EAB_HMAC'] === undefined)) {
    faults.push('ACME_EAB_KID, ACME_EAB_HMAC: set both or neither');
  }
  faults.push(...clashesIn(set));
  const config = result.success ? configFrom(result.output) : undefined;
  if (config) faults.push(...addressFaults(config));
  if (!config || faults.length > 0) throw new ConfigFault(faults);
  return config;
};

/** Where things are kept, also beside settings that are at fault. */
export const placesIn = (
  environment: Environment,
): { readonly databaseUrl: string; readonly dataDir: string } => {
  const dataDir = environment['DATA_DIR']?.trim() ? environment['DATA_DIR'] : 'var';
  const given = environment['DATABASE_URL'];
  return { dataDir, databaseUrl: given?.trim() ? given : databaseIn(dataDir) };
};

const databaseIn = (dataDir: string): string => `sqlite:${join(dataDir, 'animal-store.db')}`;

const list = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const urlLike = (text: string, protocols: readonly string[]) =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol);

/** The address is public, so it must not contain a password in any spelling. */
const hasNoUser = (text: string): boolean => {
  if (!URL.canParse(text)) return true;
  const { username, password } = new URL(text);
  return username === '' && password === '';
};

const apiAddress = v.pipe(
  v.string(),
  v.check(hasNoUser, 'must not contain a user or a password'),
  v.check(
    (text) => urlLike(text, ['http:', 'https:']) && /^[^?#]*\/v1\/?$/.test(text),
    'must be an http or https address whose path ends in /v1, like https://api.shop.example/v1',
  ),
  v.transform((text) => plainAddress(new URL(text))),
);

/** Normalised, because the check for https looks at its beginning. */
const plainAddress = ({ origin, pathname }: URL): string => origin + pathname.replace(/\/$/, '');

const portRule = 'must be a port number from 1 to 65535';
const port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, portRule),
  v.transform(Number),
  v.minValue(1, portRule),
  v.maxValue(65535, portRule),
);
/** 0: any free one. */
const portOrAny = v.union([v.pipe(v.literal('0'), v.transform(Number)), port], portRule);

const addresses = v.pipe(
  v.string(),
  v.transform(list),
  v.check(
    (all) => all.length > 0 && all.every((one) => isIP(one) !== 0),
    'must be a list of IP addresses',
  ),
);

const isIP = (text: string): 0 | 4 | 6 => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return 4;
  return ipaddr.IPv6.isValid(text) ? 6 : 0;
};

/** `ip` or `ip:port`; an IPv6 address with a port stands in brackets. */
const isServer = (text: string): boolean => {
  if (isIP(text) !== 0) return true;
  const [, v6, v4, port] = /^(?:\[(.+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const isPort = Number(port) >= 1 && Number(port) <= 65535;
  return isPort && (v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6);
};

const isSchedule = (text: string): boolean => validate(text);

const addressToListenOn = v.pipe(
  v.string(),
  v.regex(/^[0-9A-Za-z.:-]+$/, 'must be an IP address or a host name'),
);

const secretText = v.pipe(
  v.string(),
  v.minLength(
    leastCharacters,
    `must have at least ${String(leastCharacters)} characters; make one: openssl rand -hex 32`,
  ),
);

const limit = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,5}$/, 'must be a whole number from 1 to 999999'),
  v.transform(Number),
);

/** Every setting by its name in the environment; docs/operations.md explains each. */
const settings = v.object({
  NODE_ENV: v.optional(v.string()),
  DATABASE_URL: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) =>
          /^sqlite:.+/.test(text) ||
          (urlLike(text, ['mysql:']) &&
            /^\/[^/]+$/.test(new URL(text).pathname) &&
            new URL(text).hostname !== ''),
        'must be sqlite:PATH or mysql://user:password@host:3306/name',
      ),
    ),
  ),
  REDIS_URL: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => urlLike(text, ['redis:', 'rediss:']) && new URL(text).hostname !== '',
        'must be an address like redis://127.0.0.1:6379',
      ),
    ),
  ),
  DATA_DIR: v.optional(v.string(), 'var'),
  HOST: v.optional(addressToListenOn, '127.0.0.1'),
  PORT: v.optional(port, '3000'),
  OPERATIONS_HOST: v.optional(addressToListenOn, '127.0.0.1'),
  OPERATIONS_PORT: v.optional(port),
  EDGE_HOST: v.optional(addressToListenOn, '127.0.0.1'),
  EDGE_HTTP_PORT: v.optional(portOrAny, '8080'),
  EDGE_HTTPS_PORT: v.optional(portOrAny, '8443'),
  EDGE_PUBLIC_PORT: v.optional(port),
  PLATFORM_HOST: v.optional(
    v.pipe(
      v.string(),
      v.toLowerCase(),
      v.maxLength(189, 'must have at most 189 characters'),
      v.regex(
        /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
        'must be a host name with a dot in it, like sites.shop.example',
      ),
    ),
    'sites.animal-store.test',
  ),
  PUBLIC_URL: v.optional(apiAddress),
  STAGING_URL: v.optional(apiAddress),
  ROLES: v.optional(
    v.pipe(
      v.string(),
      v.transform(list),
      v.check((parts) => parts.length > 0, `must name at least one of ${roles.join(', ')}`),
      v.array(
        v.picklist(
          roles,
          ({ received }) => `must be a list of ${roles.join(', ')}; it contains ${received}`,
        ),
      ),
    ),
    roles.join(','),
  ),
  PLATFORM_ADDRESSES: v.optional(addresses),
  ENTERPRISE_DOMAIN_LIMIT: v.optional(limit, '1000'),
  ENTERPRISE_PROJECT_LIMIT: v.optional(limit, '1000'),
  ENTERPRISE_STORAGE_GIB: v.optional(limit, '1000'),
  DRAIN_SECONDS: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,4}$/, 'must be a whole number of seconds from 0 to 3600'),
      v.transform(Number),
      v.maxValue(3600, 'must be a whole number of seconds from 0 to 3600'),
    ),
    '0',
  ),
  ALLOW_TEST_DOMAINS: v.optional(v.picklist(['0', '1'], 'must be 0 or 1'), '0'),
  DNS_SERVERS: v.optional(
    v.pipe(
      v.string(),
      v.transform(list),
      v.check(
        (servers) => servers.length > 0 && servers.every(isServer),
        'must be a list of addresses like 1.1.1.1 or 127.0.0.1:5353 or [2620:fe::fe]:53',
      ),
    ),
    '1.1.1.1,8.8.8.8,9.9.9.9',
  ),
  ACME_DIRECTORY_URL: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => urlLike(text, ['https:']) && hasNoUser(text),
        'must be an https URL without user and password',
      ),
    ),
  ),
  ACME_EMAIL: v.optional(v.pipe(v.string(), v.email('must be an email address'))),
  ACME_EAB_KID: v.optional(v.string()),
  ACME_EAB_HMAC: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[A-Za-z0-9_-]+=*$/,
        'must be the base64url key that the certificate authority gave you',
      ),
    ),
  ),
  CAA_ISSUER: v.optional(
    v.pipe(
      v.string(),
      v.toLowerCase(),
      v.transform(list),
      v.check(
        (names) =>
          names.length > 0 && names.every((name) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name)),
        'must be the name of the certificate authority in CAA records, like letsencrypt.org',
      ),
    ),
    'letsencrypt.org',
  ),
  VERIFIER_SCHEDULE: v.optional(
    v.pipe(v.string(), v.check(isSchedule, 'must be a cron expression like */5 * * * * *')),
    '*/5 * * * * *',
  ),
  SECRET_KEY: v.optional(secretText),
  SECRET_KEY_PREVIOUS: v.optional(secretText),
  TRUST_PROXY: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,2}$/, 'must be the number of proxies to trust, like 0 or 1'),
      v.transform(Number),
    ),
    '0',
  ),
  LOG_LEVEL: v.optional(
    v.picklist(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be one of fatal, error, warn, info, debug, trace, silent',
    ),
    'info',
  ),
  CORS_ORIGINS: v.optional(
    v.pipe(
      v.string(),
      v.transform(list),
      v.check(
        (origins) =>
          origins.every((one) => one === '*' || (URL.canParse(one) && new URL(one).origin === one)),
        'must be a list of origins like https://shop.example, without a path, or *',
      ),
    ),
    '',
  ),
  PET_BY_ID_DEPRECATED_SINCE: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => /^\d{4}-\d\d-\d\d(T|$)/.test(text) && !Number.isNaN(Date.parse(text)),
        'must be a date like 2026-12-05',
      ),
      v.transform((text) => new Date(text)),
    ),
    '2025-12-05',
  ),
});

const ports = v.pick(settings, [
  ...(['HOST', 'PORT', 'OPERATIONS_HOST', 'OPERATIONS_PORT'] as const),
  ...(['EDGE_HOST', 'EDGE_HTTP_PORT', 'EDGE_HTTPS_PORT'] as const),
]);

/** Also beside faults of other settings, a wrong role among them: one message has all of them. */
const clashesIn = (set: Environment): readonly string[] => {
  const { success, output } = v.safeParse(ports, set);
  if (!success) return [];
  return portClashes({
    roles: set['ROLES'] === undefined ? roles : list(set['ROLES']),
    ...{ operationsHost: output.OPERATIONS_HOST, operationsPort: output.OPERATIONS_PORT },
    ...{ host: output.HOST, port: output.PORT, edgeHost: output.EDGE_HOST },
    ...{ edgeHttpPort: output.EDGE_HTTP_PORT, edgeHttpsPort: output.EDGE_HTTPS_PORT },
  });
};

const configFrom = (set: v.InferOutput<typeof settings>): Config => ({
  production: set.NODE_ENV === 'production',
  databaseUrl: set.DATABASE_URL ?? databaseIn(set.DATA_DIR),
  dataDir: set.DATA_DIR,
  host: set.HOST,
  port: set.PORT,
  operationsHost: set.OPERATIONS_HOST,
  operationsPort: set.OPERATIONS_PORT,
  publicUrl: set.PUBLIC_URL ?? `http://${reachable(set.HOST)}:${String(set.PORT)}/v1`,
  stagingUrl: set.STAGING_URL,
  roles: set.ROLES,
  edgeHost: set.EDGE_HOST,
  edgeHttpPort: set.EDGE_HTTP_PORT,
  edgeHttpsPort: set.EDGE_HTTPS_PORT,
  edgePublicPort: set.EDGE_PUBLIC_PORT,
  platformHost: set.PLATFORM_HOST,
  platformAddresses: set.PLATFORM_ADDRESSES ?? [reachableAddress(set.EDGE_HOST)],
  allowTestDomains: set.ALLOW_TEST_DOMAINS === '1',
  enterpriseDomainLimit: set.ENTERPRISE_DOMAIN_LIMIT,
  enterpriseProjectLimit: set.ENTERPRISE_PROJECT_LIMIT,
  enterpriseStorageGib: set.ENTERPRISE_STORAGE_GIB,
  dnsServers: set.DNS_SERVERS,
  acme: set.ACME_DIRECTORY_URL === undefined ? undefined : acmeFrom(set, set.ACME_DIRECTORY_URL),
  verifierSchedule: set.VERIFIER_SCHEDULE,
  secretKey: set.SECRET_KEY,
  previousSecretKey: set.SECRET_KEY_PREVIOUS,
  logLevel: set.LOG_LEVEL,
  corsOrigins: set.CORS_ORIGINS,
  redisUrl: set.REDIS_URL,
  trustProxy: set.TRUST_PROXY,
  petByIdDeprecatedSince: set.PET_BY_ID_DEPRECATED_SINCE,
  drainSeconds: set.DRAIN_SECONDS,
});

const acmeFrom = (set: v.InferOutput<typeof settings>, directoryUrl: string): AcmeConfig => {
  const { ACME_EMAIL: email, ACME_EAB_KID: kid, ACME_EAB_HMAC: hmac, CAA_ISSUER: issuers } = set;
  const eab = kid === undefined || hmac === undefined ? undefined : { kid, hmac };
  return { directoryUrl, email, eab, issuers };
};

/** Where the edge listens, as far as that is an address; everywhere is the loopback address from here. */
const reachableAddress = (host: string): string => {
  if (host === '::') return '::1';
  return isIP(host) === 0 || host === '0.0.0.0' ? '127.0.0.1' : host;
};

/** A process that listens everywhere is reached at the loopback address from here. */
const reachable = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
};
