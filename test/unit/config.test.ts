import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/app/config.ts';

const secret = 's'.repeat(32);

/** The names of the settings that the refusal finds fault with. */
const faultsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    const { name, message } = error as Error;
    expect(name).toBe('ConfigFault');
    return [...message.matchAll(/^ {2}(\w+)[:.]/gm)].map(([, setting = '']) => setting);
  }
};

test('without any setting everything has its default', () => {
  expect(loadConfig({ HOME: '/root', PATH: '/bin' })).toEqual({
    production: false,
    databaseUrl: 'sqlite:var/animal-store.db',
    dataDir: 'var',
    host: '127.0.0.1',
    port: 3000,
    publicUrl: 'http://127.0.0.1:3000/v1',
    stagingUrl: undefined,
    roles: ['api', 'dashboard', 'edge', 'worker'],
    edgeHost: '127.0.0.1',
    edgeHttpPort: 8080,
    edgeHttpsPort: 8443,
    platformHost: 'sites.animal-store.test',
    secretKey: undefined,
    logLevel: 'info',
    corsOrigins: [],
    redisUrl: undefined,
    trustProxy: 0,
    petByIdDeprecatedSince: new Date('2025-12-05T00:00:00Z'),
  });
});

test('a setting that is empty or blank counts as not set', () => {
  const blank = { PORT: '', HOST: ' ', DATABASE_URL: '', SECRET_KEY: '\t', ROLES: '' };
  expect(loadConfig(blank)).toEqual(loadConfig({}));
});

test('every setting is taken over', () => {
  const environment = {
    ...{ NODE_ENV: 'production', SECRET_KEY: secret, LOG_LEVEL: 'warn', DATA_DIR: '/srv/zoo' },
    ...{
      HOST: '::',
      PORT: '65535',
      ROLES: ' api , worker,',
      PET_BY_ID_DEPRECATED_SINCE: '2026-12-05',
    },
    DATABASE_URL: 'mysql://zoo:p%40ss@db.example:3306/zoo',
    PUBLIC_URL: 'https://api.zoo.example/v1/',
    STAGING_URL: 'https://staging.zoo.example/shop/v1',
    CORS_ORIGINS: 'https://zoo.example, http://localhost:8080',
    REDIS_URL: 'rediss://zoo:p%40ss@redis.example:6380/1',
    TRUST_PROXY: '2',
    ...{ EDGE_HOST: '0.0.0.0', EDGE_HTTP_PORT: '80', EDGE_HTTPS_PORT: '0' },
    PLATFORM_HOST: 'Sites.Zoo.Example',
  };
  expect(loadConfig(environment)).toEqual({
    production: true,
    databaseUrl: environment.DATABASE_URL,
    dataDir: '/srv/zoo',
    host: '::',
    port: 65535,
    publicUrl: 'https://api.zoo.example/v1',
    stagingUrl: 'https://staging.zoo.example/shop/v1',
    roles: ['api', 'worker'],
    edgeHost: '0.0.0.0',
    edgeHttpPort: 80,
    edgeHttpsPort: 0,
    platformHost: 'sites.zoo.example',
    secretKey: secret,
    logLevel: 'warn',
    corsOrigins: ['https://zoo.example', 'http://localhost:8080'],
    redisUrl: environment.REDIS_URL,
    trustProxy: 2,
    petByIdDeprecatedSince: new Date('2026-12-05T00:00:00Z'),
  });
});

test('the database lies in the data folder unless said otherwise', () => {
  expect(loadConfig({ DATA_DIR: '/srv/zoo' }).databaseUrl).toBe('sqlite:/srv/zoo/animal-store.db');
});

test.each([
  ['0.0.0.0', 'http://127.0.0.1:3000/v1'],
  ['::', 'http://127.0.0.1:3000/v1'],
  ['::1', 'http://[::1]:3000/v1'],
  ['zoo.example', 'http://zoo.example:3000/v1'],
])('who listens on %s is reached at %s', (host, publicUrl) => {
  expect(loadConfig({ HOST: host }).publicUrl).toBe(publicUrl);
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
    ['LOG_LEVEL', ['loud', 'INFO']],
    ['CORS_ORIGINS', ['zoo.example', 'https://zoo.example/', 'https://zoo.example/shop', '**']],
    ['REDIS_URL', ['redis.example:6379', 'http://redis.example', 'redis://', 'x']],
    ['EDGE_HOST', ['a b']],
    ['EDGE_HTTP_PORT', ['-1', '65536', 'http', '00']],
    ['EDGE_HTTPS_PORT', ['70000', '1.5']],
    [
      'PLATFORM_HOST',
      ['sites', 'sites_.example', '-a.example', 'a..example', `${'a.'.repeat(95)}x`],
    ],
    ['TRUST_PROXY', ['-1', '1.5', 'loopback', 'true', '100']],
    ['PET_BY_ID_DEPRECATED_SINCE', ['soon', '2026-13-01']],
  ])('for a wrong %s, by its name', (name, values) => {
    for (const value of values)
      expect([value, faultsOf({ [name]: value })]).toEqual([value, [name]]);
  });

  test('in production without a secret key', () => {
    expect(faultsOf({ NODE_ENV: 'production' })).toEqual(['SECRET_KEY']);
    expect(faultsOf({ NODE_ENV: 'production', SECRET_KEY: ' ' })).toEqual(['SECRET_KEY']);
    expect(faultsOf({ NODE_ENV: 'production', SECRET_KEY: secret })).toEqual([]);
  });

  test('with one message that lists every fault and never shows a secret', () => {
    const wrong = { NODE_ENV: 'production', PORT: '0', LOG_LEVEL: 'loud', ROLES: 'king' };
    expect(faultsOf(wrong).toSorted()).toEqual(['LOG_LEVEL', 'PORT', 'ROLES', 'SECRET_KEY']);
    expect(() => loadConfig({ ...wrong, SECRET_KEY: 'hunter2' })).toThrow(/4 faults/);
    expect(() => loadConfig({ ...wrong, SECRET_KEY: 'hunter2' })).not.toThrow(/hunter2/);
    expect(() => loadConfig({ PORT: '0' })).toThrow(/a fault:\n {2}PORT: .* 1 to 65535\n/);
  });
});
