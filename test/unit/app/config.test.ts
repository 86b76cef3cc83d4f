import { availableParallelism } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { safetyWarnings } from '../../../src/app/settings/warnings.ts';
import { destinationRules } from '../../../src/app/settings/addresses.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';

const secret = 'c0ffee17a9b24d85e6f3019d7b8a5c42';

const faultsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    const { name, message } = error as Error;
    expect(name).toBe('ConfigFault');
    return [...message.matchAll(/^ {2}(\w+)[:.,]/gm)].map(([, setting = '']) => setting);
  }
};

test('every setting has a default', () => {
  expect(loadConfig({ HOME: '/root', PATH: '/bin' })).toEqual({
    production: false,
    databaseUrl: 'sqlite:var/animal-store.db',
    dataDir: 'var',
    host: '127.0.0.1',
    port: 3000,
    operationsPort: undefined,
    publicUrl: 'http://127.0.0.1:3000/v1',
    stagingUrl: undefined,
    deploysUrl: undefined,
    s3Endpoint: undefined,
    otelExporterOtlpEndpoint: undefined,
    roles: ['api', 'dashboard', 'edge', 'worker'],
    processes: 1,
    edgeHost: '127.0.0.1',
    edgeHttpPort: 8080,
    edgeHttpsPort: 8443,
    platformHost: 'sites.animal-store.test',
    platformAddresses: ['127.0.0.1'],
    allowTestDomains: true,
    drainSeconds: 0,
    dnsServers: ['1.1.1.1', '8.8.8.8', '9.9.9.9'],
    acme: undefined,
    acmeDnsZone: undefined,
    dnsHost: '127.0.0.1',
    dnsPort: 8053,
    verifierSchedule: '*/5 * * * * *',
    secretKey: undefined,
    secretKeyPrevious: undefined,
    logLevel: 'info',
    corsOrigins: [],
    redisUrl: undefined,
    trustProxy: 0,
  });
});

test('a setting that is empty or blank counts as not set', () => {
  const blank = { PORT: '', HOST: ' ', DATABASE_URL: '', SECRET_KEY: '\t', ROLES: '' };
  expect(loadConfig(blank)).toEqual(loadConfig({}));
});

test('every setting is applied', () => {
  const environment = {
    NODE_ENV: 'production',
    SECRET_KEY: secret,
    LOG_LEVEL: 'warn',
    DATA_DIR: '/srv/zoo',
    HOST: '::',
    PORT: '65535',
    OPERATIONS_PORT: '10.0.0.7:9100',
    SECRET_KEY_PREVIOUS: 's'.repeat(32),
    ROLES: ' api , worker,',
    DATABASE_URL: 'mysql://zoo:p%40ss@db.example:3306/zoo',
    PUBLIC_URL: 'https://api.zoo.example/v1/',
    STAGING_URL: 'https://staging.zoo.example/shop/v1',
    CORS_ORIGINS: 'https://zoo.example, http://localhost:8080',
    REDIS_URL: 'rediss://zoo:p%40ss@redis.example:6380/1',
    TRUST_PROXY: '2',
    EDGE_HOST: '0.0.0.0',
    EDGE_HTTP_PORT: '80',
    EDGE_HTTPS_PORT: '0',
    PLATFORM_HOST: 'Sites.Zoo.Example',
    PLATFORM_ADDRESSES: '203.0.113.7, 2001:db8::7',
    DRAIN_SECONDS: '5',
    ALLOW_TEST_DOMAINS: '1',
    DNS_SERVERS: '192.0.2.53, 127.0.0.1:5353,2620:fe::fe , [2620:fe::9]:53',
    ACME_DIRECTORY_URL: 'https://acme.example/directory',
    ACME_EMAIL: 'keeper@zoo.example',
    ACME_EAB_KID: 'kid-1',
    ACME_EAB_HMAC: 'c2VjcmV0LWhtYWM',
    ACME_PROFILE: 'shortlived',
    CAA_ISSUER: 'CA.Example, ca.example.net',
    ACME_DNS_ZONE: 'ACME.Zoo.Example',
    DNS_HOST: '192.0.2.53',
    DNS_PORT: '53',
    ACME_FALLBACK_DIRECTORY_URL: 'https://other.example/directory',
    ACME_FALLBACK_EMAIL: 'keeper@zoo.example',
    ACME_FALLBACK_EAB_KID: 'kid-2',
    ACME_FALLBACK_EAB_HMAC: 'c2VjcmV0LWhtYWM',
    CAA_FALLBACK_ISSUER: 'other.example',
    VERIFIER_SCHEDULE: '*/10 * * * * *',
    PROCESSES: '4',
    DEPLOYS_URL: 's3://zoo-deploys/live',
    S3_ENDPOINT: 'https://s3.zoo.example:9000',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://traces.zoo.example/otlp',
  };
  expect(loadConfig(environment)).toMatchObject({
    production: true,
    processes: 4,
    deploysUrl: 's3://zoo-deploys/live',
    s3Endpoint: 'https://s3.zoo.example:9000/',
    otelExporterOtlpEndpoint: 'https://traces.zoo.example/otlp',
    databaseUrl: environment.DATABASE_URL,
    dataDir: '/srv/zoo',
    host: '::',
    port: 65535,
    operationsPort: { host: '10.0.0.7', port: 9100 },
    publicUrl: 'https://api.zoo.example/v1',
    stagingUrl: 'https://staging.zoo.example/shop/v1',
    roles: ['api', 'worker'],
    edgeHost: '0.0.0.0',
    edgeHttpPort: 80,
    edgeHttpsPort: 0,
    platformHost: 'sites.zoo.example',
    platformAddresses: ['203.0.113.7', '2001:db8::7'],
    allowTestDomains: true,
    drainSeconds: 5,
    dnsServers: ['192.0.2.53', '127.0.0.1:5353', '2620:fe::fe', '[2620:fe::9]:53'],
    acme: {
      directoryUrl: 'https://acme.example/directory',
      email: 'keeper@zoo.example',
      eab: { kid: 'kid-1', hmac: 'c2VjcmV0LWhtYWM' },
      issuers: ['ca.example', 'ca.example.net'],
      profile: 'shortlived',
    },
    acmeDnsZone: 'acme.zoo.example',
    dnsHost: '192.0.2.53',
    dnsPort: 53,
    acmeFallback: {
      directoryUrl: 'https://other.example/directory',
      email: 'keeper@zoo.example',
      eab: { kid: 'kid-2', hmac: 'c2VjcmV0LWhtYWM' },
      issuers: ['other.example'],
      profile: undefined,
    },
    verifierSchedule: '*/10 * * * * *',
    secretKey: secret,
    secretKeyPrevious: 's'.repeat(32),
    logLevel: 'warn',
    corsOrigins: ['https://zoo.example', 'http://localhost:8080'],
    redisUrl: environment.REDIS_URL,
    trustProxy: 2,
  });
});

test('the database is in the data folder by default', () => {
  expect(loadConfig({ DATA_DIR: '/srv/zoo' }).databaseUrl).toBe('sqlite:/srv/zoo/animal-store.db');
});

test.each([
  ['0.0.0.0', 'http://127.0.0.1:3000/v1'],
  ['::', 'http://127.0.0.1:3000/v1'],
  ['::1', 'http://[::1]:3000/v1'],
  ['zoo.example', 'http://zoo.example:3000/v1'],
])('a service that listens on %s has the public address %s', (host, publicUrl) => {
  expect(loadConfig({ HOST: host }).publicUrl).toBe(publicUrl);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
  ['edge.zoo.example', '127.0.0.1'],
])('an edge that listens on %s is expected at %s by default', (edgeHost, address) => {
  expect(loadConfig({ EDGE_HOST: edgeHost }).platformAddresses).toEqual([address]);
});

test('an authority needs only its directory', () => {
  const directoryUrl = 'https://acme.example/directory';
  expect(loadConfig({ ACME_DIRECTORY_URL: directoryUrl }).acme).toEqual({
    directoryUrl,
    email: undefined,
    eab: undefined,
    issuers: undefined,
    profile: undefined,
  });
});

test.each([
  ['by another role', { ROLES: 'api,worker', PORT: '8080' }],
  ['at another address', { HOST: '127.0.0.2', PORT: '8080' }],
  ['over another version of IP', { HOST: '::1', EDGE_HOST: '0.0.0.0', PORT: '8080' }],
  ['whenever it is free', { EDGE_HTTP_PORT: '0', EDGE_HTTPS_PORT: '0' }],
])('a port may be used twice %s', (_, environment) => {
  expect(faultsOf(environment)).toEqual([]);
});

describe('the start is refused', () => {
  test.each([
    [
      'DATABASE_URL',
      ['postgres://db/zoo', 'sqlite:', 'mysql://db.example', 'mysql://db.example/', 'x'],
    ],
    ['HOST', ['a b', 'http://zoo.example', '127.0.0.1/8']],
    ['PORT', ['0', '65536', '-1', '3000.5', 'http', '999999']],
    [
      'PUBLIC_URL',
      ['zoo.example/v1', 'ftp://zoo.example/v1', 'https://zoo.example', 'https://z.x/v12'],
    ],
    ['STAGING_URL', ['https://zoo.example/v2']],
    ['ROLES', ['api,king', ',', 'API']],
    ['SECRET_KEY', ['s'.repeat(31)]],
    ['SECRET_KEY_PREVIOUS', ['s'.repeat(31)]],
    ['OPERATIONS_PORT', ['0', '65536', 'metrics', 'a b:9100', ':9100', '::1:9100', '10.0.0.7:']],
    ['LOG_LEVEL', ['loud', 'INFO']],
    ['CORS_ORIGINS', ['zoo.example', 'https://zoo.example/', 'https://zoo.example/shop', '**']],
    [
      'REDIS_URL',
      ['redis.example:6379', 'http://redis.example', 'redis://', 'x', 'redis+sentinel://a:26379'],
    ],
    ['EDGE_HOST', ['a b']],
    ['EDGE_HTTP_PORT', ['-1', '65536', 'http', '00']],
    ['EDGE_HTTPS_PORT', ['70000', '1.5']],
    [
      'PLATFORM_HOST',
      ['sites', 'sites_.example', '-a.example', 'a..example', `${'a.'.repeat(95)}x`],
    ],
    ['PLATFORM_ADDRESSES', ['edge.zoo.example', '203.0.113', '1.2.3.4:443', ',']],
    ['DRAIN_SECONDS', ['-1', '3601', '1.5', 'soon']],
    ['ALLOW_TEST_DOMAINS', ['yes', 'true', '2']],
    [
      'DNS_SERVERS',
      ['dns.zoo.example', ',', '1.1.1.1:0', '1.1.1.1:65536', '[1.1.1.1]:53', '1.1.1.1,x'],
    ],
    ['ACME_DIRECTORY_URL', ['http://acme.example/directory', 'acme.example', 'x']],
    ['ACME_EMAIL', ['keeper', 'keeper@', 'mailto:keeper@zoo.example']],
    ['CAA_ISSUER', [',', 'letsencrypt', 'letsencrypt.org; accounturi=x', 'https://ca.example']],
    ['ACME_PROFILE', ['short lived', 'kurz-lebig-für-tage', 'a'.repeat(65)]],
    ['VERIFIER_SCHEDULE', ['often', '5', '61 * * * * *']],
    ['TRUST_PROXY', ['-1', '1.5', 'loopback', 'true', '100']],
    ['NODE_ENV', ['prod', 'Production']],
    [
      'DEPLOYS_URL',
      [
        ...['https://bucket.s3.amazonaws.com/live', 's3://', 's3://Bucket', 's3://b/p'],
        ...['s3://id:hunter2@bucket/live', 's3://bucket/live?region=eu', 's3://bucket//live'],
      ],
    ],
    [
      'S3_ENDPOINT',
      ['https://id:hunter2@s3.zoo.example', 's3.zoo.example', 'https://s3.zoo.example/?a=b'],
    ],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      ['127.0.0.1:4318', 'https://zoo:hunter2@t.example', 'https://t.example/?token=hunter2'],
    ],
    ['PROCESSES', ['0', '100', '-1', '1.5', 'all']],
    [
      'ACME_DNS_ZONE',
      [
        ...['acme', 'zoo.example', 'acme..example', '-a.zoo.example', '*.acme.zoo.example'],
        ...['192.0.2.1/24', `${'a'.repeat(62)}.zoo.example`, `${'a.'.repeat(60)}example`],
      ],
    ],
  ])('for an invalid %s, which the message names', (name, values) => {
    for (const value of values)
      expect([value, faultsOf({ [name]: value })]).toEqual([value, [name]]);
  });

  test('with the right name of a variable that is almost a setting', () => {
    expect(() => loadConfig({ NODE_ENV: 'production', SECRET_KYE: secret })).toThrow(
      'SECRET_KYE is not a setting and has no effect. Did you mean SECRET_KEY?',
    );
  });

  test('in production without a secret key', () => {
    expect(faultsOf({ NODE_ENV: 'production' })).toEqual(['SECRET_KEY']);
    expect(faultsOf({ NODE_ENV: 'production', SECRET_KEY: ' ' })).toEqual(['SECRET_KEY']);
    expect(faultsOf({ NODE_ENV: 'production', SECRET_KEY: secret })).toEqual([]);
  });

  test.each(['a'.repeat(32), 'ab'.repeat(20), 'a very secret key of our little shop'])(
    'in production with a secret key like %j, and the message says how to make one',
    (weak) => {
      const guessable = { NODE_ENV: 'production', SECRET_KEY: weak };
      expect(faultsOf(guessable)).toEqual(['SECRET_KEY']);
      expect(() => loadConfig(guessable)).toThrow(/can be guessed: .*openssl rand -hex 32/);
      expect(() => loadConfig(guessable)).not.toThrow(weak);
      expect(faultsOf({ SECRET_KEY: weak })).toEqual([]);
    },
  );

  test('with the same key before and after a rotation', () => {
    const same = { SECRET_KEY: secret, SECRET_KEY_PREVIOUS: secret };
    expect(faultsOf(same)).toEqual(['SECRET_KEY_PREVIOUS']);
  });

  const production = { NODE_ENV: 'production', SECRET_KEY: secret };
  const warningsOf = (environment: Readonly<Record<string, string>>) =>
    safetyWarnings(loadConfig(environment)).map((one) => one.split(' ')[0]);

  test.each([
    'http://api.zoo.example/v1',
    'http://10.0.0.7:3000/v1',
    'http://localhost.evil.example/v1',
    'HTTP://api.zoo.example/v1',
  ])('in production if clients come over %s without TLS', (publicUrl) => {
    expect(faultsOf({ ...production, PUBLIC_URL: publicUrl })).toEqual(['PUBLIC_URL']);
    expect(faultsOf({ PUBLIC_URL: publicUrl })).toEqual([]);
    const worker = { ...production, ROLES: 'worker,edge', PUBLIC_URL: publicUrl };
    expect(faultsOf(worker)).toEqual([]);
  });

  test.each(['http://127.0.0.1:3000/v1', 'http://[::1]:3000/v1', 'http://localhost:3000/v1'])(
    'but not if clients can only come from this machine, %s, which only causes a warning',
    (publicUrl) => {
      const environment = { ...production, PUBLIC_URL: publicUrl };
      expect(faultsOf(environment)).toEqual([]);
      expect(warningsOf(environment)).toContain('PUBLIC_URL');
    },
  );

  test('but not for sites that nobody can reach, which only cause a warning', () => {
    expect(warningsOf(production)).toEqual([
      'PUBLIC_URL',
      'ACME_DIRECTORY_URL',
      'PLATFORM_HOST',
      'PLATFORM_ADDRESSES',
    ]);
    expect(warningsOf({ ...production, ROLES: 'api' })).toEqual(['PUBLIC_URL']);
    const sound = {
      ...production,
      PUBLIC_URL: 'https://app.zoo.net/v1',
      PLATFORM_HOST: 'sites.zoo.net',
      PLATFORM_ADDRESSES: '203.0.113.7,2001:db8::7',
      ACME_DIRECTORY_URL: 'https://acme.zoo.net/directory',
    };
    expect(warningsOf(sound)).toEqual([]);
    expect(warningsOf({ ...sound, PLATFORM_ADDRESSES: '203.0.113.7,::1' })).toEqual([
      'PLATFORM_ADDRESSES',
    ]);
    expect(warningsOf({})).toEqual([]);
  });

  test('but not for an object store over an unencrypted connection, which only causes a warning', () => {
    const stores = (S3_ENDPOINT: string, more = {}) =>
      warningsOf({ ...production, ...more, S3_ENDPOINT }).filter((one) => one === 'S3_ENDPOINT');
    expect(stores('HTTP://s3.zoo.example')).toEqual(['S3_ENDPOINT']);
    expect(stores('https://s3.zoo.example')).toEqual([]);
    expect(stores('http://127.0.0.1:9000')).toEqual([]);
    expect(stores('http://s3.zoo.example', { NODE_ENV: 'test' })).toEqual([]);
  });

  test.each([
    'https://zoo:hunter2@zoo.example/v1',
    'https:/zoo:hunter2@zoo.example/v1',
    'https:zoo:hunter2@zoo.example/v1',
  ])('with a user or a password in an address that is displayed: %s', (address) => {
    for (const name of ['PUBLIC_URL', 'STAGING_URL', 'ACME_DIRECTORY_URL']) {
      expect(faultsOf({ [name]: address })).toEqual([name]);
      expect(() => loadConfig({ [name]: address })).not.toThrow(/hunter2/);
    }
  });

  test('if sites could set cookies for the dashboard, but not if they are only next to it', () => {
    for (const [publicUrl, platformHost, faults] of [
      ['https://zoo.example/v1', 'zoo.example', ['PLATFORM_HOST']],
      ['https://app.zoo.example/v1', 'zoo.example', ['PLATFORM_HOST']],
      ['https://a.b.Zoo.example/v1', 'ZOO.example', ['PLATFORM_HOST']],
      ['https://app.zoo.example/v1', 'sites.zoo.example', []],
      ['https://zoo.example/v1', 'sites.zoo.example', []],
      ['https://appzoo.example/v1', 'zoo.example', []],
    ] as const) {
      const environment = { PUBLIC_URL: publicUrl, PLATFORM_HOST: platformHost };
      expect([environment, faultsOf(environment)]).toEqual([environment, faults]);
    }
  });

  test('with a bucket whose name is too short, and the message says so', () => {
    expect(() => loadConfig({ DEPLOYS_URL: 's3://b/p' })).toThrow(
      'DEPLOYS_URL: the name of the bucket is too short: it must have 3 to 63 characters',
    );
  });

  test('with only one of the two external account binding settings', () => {
    expect(faultsOf({ ACME_EAB_KID: 'kid-1' })).toEqual(['ACME_EAB_KID']);
    expect(faultsOf({ ACME_EAB_HMAC: 'c2VjcmV0' })).toEqual(['ACME_EAB_KID']);
    const wrong = { ACME_EAB_KID: 'kid-1', ACME_EAB_HMAC: 'not base64!' };
    expect(faultsOf(wrong)).toEqual(['ACME_EAB_HMAC']);
    expect(() => loadConfig(wrong)).not.toThrow(/not base64!/);
  });

  test('with settings of a second authority that do not match, all in one message', () => {
    const first = { ACME_DIRECTORY_URL: 'https://acme.example/directory' };
    const second = { ACME_FALLBACK_DIRECTORY_URL: 'https://other.example/directory' };
    const issuer = { CAA_FALLBACK_ISSUER: 'other.example' };
    expect(faultsOf({ ...first, ...second, ...issuer })).toEqual([]);
    expect(faultsOf({ ...first, ...second })).toEqual([]);
    expect(faultsOf({ ...second, ...issuer })).toEqual(['ACME_FALLBACK_DIRECTORY_URL']);
    expect(faultsOf(issuer)).toEqual(['CAA_FALLBACK_ISSUER']);
    const same = { ACME_FALLBACK_DIRECTORY_URL: 'https://acme.example/other' };
    expect(faultsOf({ ...first, ...same, ACME_FALLBACK_EAB_KID: 'kid' })).toEqual([
      ...['ACME_FALLBACK_EAB_KID', 'ACME_FALLBACK_DIRECTORY_URL'],
    ]);
  });

  test.each([
    ['for one port that the edge is to use twice', { EDGE_HTTPS_PORT: '8080' }],
    ['for one port at the same address', { PORT: '8443' }],
    ['for one port for operations and the edge', { OPERATIONS_PORT: '8443' }],
    ['for one port where the edge listens everywhere', { PORT: '8080', EDGE_HOST: '0.0.0.0' }],
    ['for one port where :: covers IPv4', { PORT: '8443', HOST: '::', EDGE_HOST: '192.0.2.1' }],
  ])('%s', (_, environment) => {
    expect(() => loadConfig(environment)).toThrow(
      /a fault:\n {2}(EDGE_HTTP_|OPERATIONS_)?PORT, EDGE_HTTPS?_PORT: must be different ports; both are 8(080|443)\n/,
    );
  });

  test('for three equal ports, pair by pair, along with every other mistake', () => {
    const wrong = { PORT: '8080', EDGE_HTTPS_PORT: '8080', ROLES: 'edge,king' };
    expect(faultsOf(wrong)).toEqual(['ROLES', 'PORT', 'PORT', 'EDGE_HTTP_PORT']);
  });

  test('for a wrong role, and the message names it', () => {
    expect(() => loadConfig({ ROLES: 'api,king' })).toThrow(
      /^ {2}ROLES: must be a list of api, .*; it contains "king"$/m,
    );
  });

  test('with one message that lists every fault and never shows a secret', () => {
    const wrong = { NODE_ENV: 'production', PORT: '0', LOG_LEVEL: 'loud', ROLES: 'king' };
    expect(faultsOf(wrong).toSorted()).toEqual(['LOG_LEVEL', 'PORT', 'ROLES', 'SECRET_KEY']);
    expect(() => loadConfig({ ...wrong, SECRET_KEY: 'hunter2' })).toThrow(/4 faults/);
    expect(() => loadConfig({ ...wrong, SECRET_KEY: 'hunter2' })).not.toThrow(/hunter2/);
    expect(() => loadConfig({ PORT: '0' })).toThrow(/a fault:\n {2}PORT: .* 1 to 65535\n/);
  });
});

describe('the role dns', () => {
  const zone = { ACME_DNS_ZONE: 'acme.zoo.example' };
  const rolesOf = (environment: Readonly<Record<string, string>>) => loadConfig(environment).roles;

  test('is a default role if there is a zone to answer for', () => {
    expect(rolesOf(zone)).toEqual(['api', 'dashboard', 'edge', 'worker', 'dns']);
    expect(rolesOf({ ...zone, ROLES: 'edge' })).toEqual(['edge']);
    expect(rolesOf({ ...zone, ROLES: 'dns' })).toEqual(['dns']);
  });

  test('needs a zone', () => {
    expect(faultsOf({ ROLES: 'dns' })).toEqual(['ACME_DNS_ZONE']);
  });

  test.each([
    ['the sites', { PLATFORM_HOST: 'sites.acme.zoo.example' }],
    ['the zone itself as their host', { PLATFORM_HOST: 'acme.zoo.example' }],
    ['the API', { PUBLIC_URL: 'https://api.acme.zoo.example/v1' }],
  ])('needs a zone that does not hide %s', (_, hidden) => {
    expect(faultsOf({ ...zone, ...hidden })).toEqual(['ACME_DNS_ZONE']);
  });

  test('needs a zone outside the sites, because a project could take its name or that of its name server', () => {
    for (const name of ['acme.zoo.example', 'a.b.zoo.example']) {
      const environment = { ACME_DNS_ZONE: name, PLATFORM_HOST: 'zoo.example' };
      expect(() => loadConfig(environment)).toThrow(/ACME_DNS_ZONE: must not be in zoo\.example/);
      expect(faultsOf({ ...environment, PLATFORM_HOST: 'sites.zoo.example' })).toEqual([]);
    }
  });

  test('listens on an address, and on a port that nothing else uses', () => {
    expect(faultsOf({ ...zone, DNS_HOST: 'localhost' })).toEqual(['DNS_HOST']);
    expect(faultsOf({ ...zone, DNS_PORT: '0' })).toEqual(['DNS_PORT']);
    expect(() => loadConfig({ ...zone, DNS_PORT: '8080' })).toThrow(
      'EDGE_HTTP_PORT, DNS_PORT: must be different ports; both are 8080',
    );
    expect(faultsOf({ DNS_PORT: '8080' })).toEqual([]);
  });
});

describe('PROCESSES', () => {
  const redis = { REDIS_URL: 'redis://127.0.0.1' };
  const processesOf = (environment: Readonly<Record<string, string>>) =>
    loadConfig(environment).processes;

  test('is a number, or the number of cores', () => {
    expect(processesOf({ ...redis, PROCESSES: '3' })).toBe(3);
    expect(processesOf({ ...redis, PROCESSES: 'auto' })).toBe(availableParallelism());
    expect(processesOf({ ROLES: 'worker', PROCESSES: 'auto' })).toBe(1);
  });

  test.each(['api', 'dashboard', 'edge,api'])('above 1 needs Redis with ROLES=%s', (roles) => {
    expect(() => loadConfig({ ROLES: roles, PROCESSES: '2' })).toThrow(
      'PROCESSES: 2 processes with the role api or dashboard need REDIS_URL',
    );
    expect(processesOf({ ...redis, ROLES: roles, PROCESSES: '2' })).toBe(2);
  });

  test('above 1 needs no Redis for edges, and has no effect for a worker alone', () => {
    expect(processesOf({ ROLES: 'edge,worker', PROCESSES: '2' })).toBe(2);
    expect(faultsOf({ ROLES: 'worker', PROCESSES: '2' })).toEqual(['PROCESSES']);
  });
});

test.each([
  [{}, true],
  [{ ALLOW_TEST_DOMAINS: '0' }, false],
  [{ NODE_ENV: 'production', SECRET_KEY: secret, PUBLIC_URL: 'https://a.example/v1' }, false],
  [
    {
      NODE_ENV: 'production',
      SECRET_KEY: secret,
      PUBLIC_URL: 'https://a.example/v1',
      ALLOW_TEST_DOMAINS: '1',
    },
    false,
  ],
])('webhooks may call this machine with %j: %s', (environment, allowsThisMachine) => {
  expect(destinationRules(loadConfig(environment))).toEqual({ allowsThisMachine });
});
