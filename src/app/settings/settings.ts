import * as v from 'valibot';
import * as is from './setting-schemas.ts';

/** Describes one setting. Its type, check, redaction, `config check` and docs/settings.md are all derived from this. */
export interface Setting {
  readonly schema: v.GenericSchema<string, unknown>;
  /** Parsed like a given value. If missing, the value is undefined, or derived from other settings. */
  readonly byDefault?: string;
  readonly shownDefault?: string;
  readonly isSecret?: true;
  /** `required` settings are needed in production. */
  readonly group: 'required' | 'common' | 'rare';
  readonly meaning: string;
}

export const settings = {
  NODE_ENV: {
    group: 'required',
    schema: v.picklist(
      ['development', 'test', 'production'],
      'must be development, test or production',
    ),
    meaning:
      '`development`, `test` or `production`. In production, the service requires a strong `SECRET_KEY` and an https `PUBLIC_URL`, creates no first account and prints only JSON logs; see [refused settings](#settings-that-are-refused)',
  },
  SECRET_KEY: {
    group: 'required',
    schema: is.secretText,
    isSecret: true,
    meaning:
      'at least 32 characters; signs cursors and encrypts private keys. Not set: `secret.key` in `DATA_DIR`, created at the first start with mode 0600. [Do not lose it](backups.md#backups)',
  },
  PUBLIC_URL: {
    group: 'required',
    schema: is.apiAddress,
    shownDefault: 'http://127.0.0.1:3000/v1',
    meaning:
      'base URL that clients use, in `Link`, `Location` and the OpenAPI document; ends in `/v1`, without user or password. Default: from `HOST` and `PORT`',
  },
  PLATFORM_HOST: {
    group: 'required',
    schema: is.hostName,
    byDefault: 'sites.animal-store.test',
    meaning:
      'zone of the project hosts: `<slug>.sites.animal-store.test`; see [names](edge.md#names). Must not be the host of `PUBLIC_URL` or a parent of it',
  },
  PLATFORM_ADDRESSES: {
    group: 'required',
    schema: is.ipAddresses,
    meaning:
      "the edges' public IP addresses, IPv4 and IPv6, comma-separated. An apex domain must resolve to exactly these. Not set: `EDGE_HOST`, or the loopback address",
  },
  ACME_DIRECTORY_URL: {
    group: 'required',
    schema: is.directory,
    meaning:
      'https URL of the ACME directory of your certificate authority. Not set: the [local authority](certificates-and-dns.md#local-certificate-authority)',
  },
  DATABASE_URL: {
    group: 'common',
    schema: is.databaseUrl,
    shownDefault: 'sqlite:var/animal-store.db',
    meaning:
      '`sqlite:PATH`, or `mysql://user:password@host:3306/name`. By default a file in `DATA_DIR`',
  },
  DATA_DIR: {
    group: 'common',
    schema: is.text,
    byDefault: 'var',
    meaning:
      'folder for deploys, the local certificate authority and, by default, the SQLite file and the secret key',
  },
  HOST: {
    group: 'common',
    schema: is.addressToListenOn,
    byDefault: '127.0.0.1',
    meaning: 'address to listen on; `0.0.0.0` for all interfaces',
  },
  PORT: { group: 'common', schema: is.port, byDefault: '3000', meaning: 'port to listen on' },
  EDGE_HOST: {
    group: 'common',
    schema: is.addressToListenOn,
    byDefault: '127.0.0.1',
    meaning:
      'address that the [edge](edge.md#edge) listens on; `0.0.0.0` or `::` for all interfaces',
  },
  EDGE_HTTP_PORT: {
    group: 'common',
    schema: is.portOrAny,
    byDefault: '8080',
    meaning: 'port for HTTP; 0 picks a free one, which the log shows',
  },
  EDGE_HTTPS_PORT: {
    group: 'common',
    schema: is.portOrAny,
    byDefault: '8443',
    meaning:
      'port for HTTPS; 0 picks a free one. Addresses of sites contain it, or 443 in production, the port of visitors',
  },
  ROLES: {
    group: 'common',
    schema: is.someRoles,
    shownDefault: 'api,dashboard,edge,worker',
    meaning:
      'roles of this process; see [roles](running.md#several-processes-and-roles). With `ACME_DNS_ZONE`, also `dns`',
  },
  PROCESSES: {
    group: 'common',
    schema: is.processCount,
    byDefault: '1',
    meaning:
      'number of processes on these ports, or `auto`: one for each core; see [all cores](running.md#all-cores)',
  },
  REDIS_URL: {
    group: 'common',
    schema: is.redisUrl,
    meaning:
      '`redis://host:6379`, or `redis+sentinel://a:26379,b:26379,c:26379/name`; with TLS `rediss`: shared request counters; see [Redis](databases.md#redis). Not set: each process counts alone',
  },
  TRUST_PROXY: {
    group: 'common',
    schema: is.proxyCount,
    byDefault: '0',
    meaning: 'number of proxies in front of the service; see [proxies](#proxies)',
  },
  CORS_ORIGINS: {
    group: 'common',
    schema: is.origins,
    byDefault: '',
    meaning: 'origins that may call the API from a browser, comma-separated, or `*`',
  },
  SMTP_URL: {
    group: 'common',
    schema: is.smtpUrl,
    meaning:
      'mail server that takes our [mail](accounts-and-mail.md#mail): `smtp://user:password@host:587` (STARTTLS), or `smtps://…:465` (TLS). Not set: no mail is sent',
  },
  MAIL_FROM: {
    group: 'common',
    schema: is.sender,
    meaning: 'sender of mail: an address, or `Name <address>`; required with `SMTP_URL`',
  },
  DNS_SERVERS: {
    group: 'common',
    schema: is.dnsServers,
    byDefault: '1.1.1.1,8.8.8.8,9.9.9.9',
    meaning:
      'resolvers for [custom domains](certificates-and-dns.md#custom-domains), each asked separately, and for [webhooks](webhooks.md): `ip`, `ip:port` or `[ipv6]:port`, comma-separated',
  },
  ACME_EMAIL: {
    group: 'common',
    schema: is.email,
    meaning: 'contact address for the certificate authority',
  },
  ACME_DNS_ZONE: {
    group: 'common',
    schema: is.zone,
    meaning:
      '[zone](certificates-and-dns.md#setting-up-the-zone) that you delegate to this service, like `acme.shop.example`: it answers DNS challenges there. Not set: certificates are validated over HTTP only',
  },
  DNS_HOST: {
    group: 'common',
    schema: is.ipAddress,
    byDefault: '127.0.0.1',
    meaning: 'IP address that the role `dns` listens on, over UDP and TCP',
  },
  DNS_PORT: {
    group: 'common',
    schema: is.port,
    byDefault: '8053',
    meaning: 'port for the role `dns`; resolvers use port 53',
  },
  DEPLOYS_URL: {
    group: 'common',
    schema: is.bucketUrl,
    meaning:
      'bucket for the files of deploys, and the prefix of their keys: `s3://bucket/prefix`; see [object store](edge.md#deploys-in-an-object-store). Not set: the folder `deploys` in `DATA_DIR`',
  },
  S3_ENDPOINT: {
    group: 'common',
    schema: v.pipe(
      is.httpAddress('https://s3.shop.example:9000'),
      v.transform((given) => new URL(given).href),
    ),
    meaning: 'address of an object store that is not AWS. Not set: AWS',
  },
  OPERATIONS_PORT: {
    group: 'common',
    schema: is.hostAndPort,
    meaning:
      'a separate port for [health and metrics](running.md#health-readiness-metrics), such as `9100`; `0.0.0.0:9100` if probes come from other machines. Not set: they are on `PORT`',
  },
  LOG_LEVEL: {
    group: 'common',
    schema: v.picklist(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be one of fatal, error, warn, info, debug, trace, silent',
    ),
    byDefault: 'info',
    meaning:
      '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`. With `debug`, failed commands print a stack trace',
  },
  SECRET_KEY_PREVIOUS: {
    group: 'rare',
    schema: is.secretText,
    isSecret: true,
    meaning:
      'the old key while you [replace](backups.md#replacing-the-secret-key) `SECRET_KEY`: what it signed or encrypted stays valid',
  },
  DRAIN_SECONDS: {
    group: 'rare',
    schema: is.seconds,
    byDefault: '0',
    meaning:
      'how long `/readyz` answers 503 before the process stops [listening](running.md#stopping); use 5 behind a load balancer',
  },
  STAGING_URL: {
    group: 'rare',
    schema: is.apiAddress,
    meaning: 'base URL of a staging environment, listed in the OpenAPI document; ends in `/v1`',
  },
  PLATFORM_CERTIFICATE_FILE: {
    group: 'rare',
    schema: is.text,
    meaning:
      "PEM file with [your own certificate](certificates-and-dns.md#the-platforms-certificate) for `PLATFORM_HOST` and all names below it, and its intermediates. Not set: we order one ourselves, or one for each project's host",
  },
  PLATFORM_KEY_FILE: {
    group: 'rare',
    schema: is.text,
    meaning: 'PEM file with the private key of that certificate; set both or neither',
  },
  ACME_EAB_KID: {
    group: 'rare',
    schema: is.text,
    meaning:
      'key id for external account binding, if your authority requires it; see [the account](certificates-and-dns.md#the-account-at-the-authority)',
  },
  ACME_EAB_HMAC: {
    group: 'rare',
    schema: is.bindingKey,
    isSecret: true,
    meaning: 'key for external account binding, base64url; set both or neither',
  },
  ACME_PROFILE: {
    group: 'rare',
    schema: is.profile,
    meaning:
      "kind of certificate to ask for, such as `shortlived` or `tlsserver` at Let's Encrypt; see [profiles](certificates-and-dns.md#profiles)",
  },
  CAA_ISSUER: {
    group: 'rare',
    schema: is.issuers,
    meaning:
      'name of the certificate authority in [CAA records](certificates-and-dns.md#the-account-at-the-authority); several names comma-separated. Not set: the names in its directory',
  },
  ACME_FALLBACK_DIRECTORY_URL: {
    group: 'rare',
    schema: is.directory,
    meaning:
      'https URL of the directory of [a second authority](certificates-and-dns.md#a-second-authority), which is asked when the first one does not answer, or CAA forbids it',
  },
  ACME_FALLBACK_EMAIL: {
    group: 'rare',
    schema: is.email,
    meaning: 'contact address for the second authority',
  },
  ACME_FALLBACK_EAB_KID: {
    group: 'rare',
    schema: is.text,
    meaning: 'key id for external account binding at the second authority',
  },
  ACME_FALLBACK_EAB_HMAC: {
    group: 'rare',
    schema: is.bindingKey,
    isSecret: true,
    meaning:
      'key for external account binding at the second authority, base64url; set both or neither',
  },
  CAA_FALLBACK_ISSUER: {
    group: 'rare',
    schema: is.issuers,
    meaning: 'name of the second authority in CAA records. Not set: the names in its directory',
  },
  VERIFIER_SCHEDULE: {
    group: 'rare',
    schema: is.schedule,
    byDefault: '*/5 * * * * *',
    meaning: 'how often we look for custom domains that are due: a cron expression with seconds',
  },
  ALLOW_TEST_DOMAINS: {
    group: 'rare',
    schema: is.zeroOrOne,
    shownDefault: '1',
    meaning:
      '1 allows custom domains below `.test` and, outside production, [webhooks](webhooks.md) to this machine. In production the default is 0',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group: 'rare',
    schema: is.httpAddress('http://127.0.0.1:4318'),
    meaning:
      'receiver of [traces](running.md#traces) over OTLP/HTTP, such as `http://127.0.0.1:4318`. Not set: no traces',
  },
} as const satisfies Readonly<Record<string, Setting>>;

type Settings = typeof settings;

/** `DATA_DIR` → `dataDir` */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

export const camelCase = (name: string): string =>
  name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

type ValueOf<One extends Setting> =
  | Unchanging<v.InferOutput<One['schema']>>
  | (One extends { readonly byDefault: string } ? never : undefined);

type Unchanging<Value> = Value extends readonly (infer Part)[] ? readonly Part[] : Value;

export type Given = {
  readonly [Name in keyof Settings as CamelCase<Name>]: ValueOf<Settings[Name]>;
};

export interface AcmeConfig {
  readonly directoryUrl: string;
  readonly email: string | undefined;
  readonly eab: { readonly kid: string; readonly hmac: string } | undefined;
  /** The authority's names in CAA records. If undefined, those of its directory apply. */
  readonly issuers: readonly string[] | undefined;
  readonly profile: string | undefined;
}

interface Derived {
  readonly production: boolean;
  readonly databaseUrl: string;
  readonly publicUrl: string;
  readonly platformAddresses: readonly string[];
  readonly roles: readonly string[];
  readonly processes: number;
  readonly allowTestDomains: boolean;
  /** Undefined in development, which uses the local authority. */
  readonly acme: AcmeConfig | undefined;
  readonly acmeFallback: AcmeConfig | undefined;
}

export interface Config extends Omit<Given, keyof Derived>, Derived {}
