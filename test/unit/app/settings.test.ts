import { describe, expect, test } from '@jest/globals';
import { hash } from 'node:crypto';
import { deploysFolder, objectStoreIn } from '../../../src/app/settings/addresses.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { weaknessOf } from '../../../src/app/settings/faults.ts';
import { redaction, withoutUser } from '../../../src/app/settings/redaction.ts';
import { settings, type Setting } from '../../../src/app/settings/settings.ts';
import { nearNames } from '../../../src/app/settings/warnings.ts';

const names = Object.keys(settings);
const warnings = (variable: string) => nearNames({ [variable]: 'x' }, names);

test.each([
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['PUBLIC_ULR', 'PUBLIC_URL'],
  ['PLATFORM_ADDRESS', 'PLATFORM_ADDRESSES'],
  ['SECRETKEY', 'SECRET_KEY'],
  ['database_url', 'DATABASE_URL'],
])('%s is recognised as a mistyped %s', (variable, setting) => {
  expect(warnings(variable)).toEqual([
    `${variable} is not a setting and has no effect. Did you mean ${setting}?`,
  ]);
});

test.each([
  ...['DATABASE_URL_FILE', 'HOSTNAME', 'AWS_REGION', 'OTEL_LOGS_EXPORTER', 'PORTS', 'EDITOR'],
  ...['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'SSL_CERT_FILE', 'XDG_DATA_DIRS', 'HTTP_PROXY'],
])('%s is not one of our settings', (variable) => {
  expect(warnings(variable)).toEqual([]);
});

test.each(
  Object.entries<Setting>(settings).filter(([name]) => /SECRET|PASSWORD|TOKEN|HMAC/.test(name)),
)('%s is a secret', (_, { isSecret }) => {
  expect(isSecret).toBe(true);
});

test.each(names)('%s causes no warning', (name) => {
  expect(warnings(name)).toEqual([]);
});

test.each([
  ['one letter', 'a'.repeat(32)],
  ['one letter, repeated', '0'.repeat(500)],
  ['two letters in turn', 'ab'.repeat(16)],
  ['a repeated short word', 'hunter2'.repeat(6)],
  ['a word followed by a counter', 'Password1Password2Password3Password4'],
  ['the same half twice', 'k3Xv9QpL2mZt8RwY'.repeat(2)],
  ['the alphabet', 'abcdefghijklmnopqrstuvwxyz012345'],
  ['the digits', '01234567890123456789012345678901'],
  ['the digits of hexadecimal numbers', '0123456789abcdef0123456789ABCDEF'],
  ['the keyboard', 'qwertyuiopasdfghjklzxcvbnm1234567890'],
  ['a sentence', 'this is a very secret key for my shop'],
  ['a placeholder', 'change-me-please-this-is-not-a-secret'],
  ['words in capitals', 'CHANGE_ME_BEFORE_YOU_GO_TO_PRODUCTION'],
  ['words without blanks', 'correcthorsebatterystaplecorrect'],
  ['digits only', '31415926535897932384626433832795'],
])('a secret key that is %s is weak', (_, secret) => {
  expect(weaknessOf(secret)).toMatch(/^\S.{9,}/);
});

const random = (seed: number): Buffer => hash('sha256', `seed ${seed}`, 'buffer');

test('random text is never called weak', () => {
  for (let seed = 0; seed < 300; seed++) {
    const bytes = random(seed);
    const forms = [
      bytes.toString('hex'),
      bytes.toString('hex').slice(0, 32),
      bytes.toString('base64'),
      bytes.toString('base64url').slice(0, 32),
      `${bytes.toString('hex').slice(0, 8)}-${bytes.toString('hex').slice(8, 12)}-${bytes.toString('hex').slice(12, 36)}`,
    ];
    for (const form of forms) expect([form, weaknessOf(form)]).toEqual([form, undefined]);
  }
});

test('a long phrase of different words is accepted', () => {
  const phrase = 'tulip anvil gravel mosquito harbor velvet lantern pickle orbit saddle';
  expect(weaknessOf(phrase)).toBeUndefined();
});

test('deploys are stored in a folder, unless an object store is set', () => {
  const config = loadConfig({ DATA_DIR: '/srv/zoo' });
  expect(objectStoreIn(config)).toBeUndefined();
  expect(deploysFolder(config)).toBe('/srv/zoo/deploys');
});

test.each([
  ['s3://zoo', ''],
  ['s3://zoo/', ''],
  ['s3://zoo/live', 'live/'],
  ['s3://zoo/live/sites/', 'live/sites/'],
])('%s means the keys that begin with "%s"', (DEPLOYS_URL, prefix) => {
  const config = loadConfig({ DEPLOYS_URL });
  expect(objectStoreIn(config)).toEqual({ bucket: 'zoo', prefix, endpoint: undefined });
});

describe('an address', () => {
  test.each([
    ['mysql://shop:hunter2@db.example:3306/shop', 'mysql://…@db.example:3306/shop'],
    ['mysql://shop:hunter2@p2ssword@db.example/shop', 'mysql://…@db.example/shop'],
    ['mysql://shop:hunter2/word@db.example/shop', 'mysql://…@db.example/shop'],
    ['rediss://:hunter2@redis.example:6380/1', 'rediss://…@redis.example:6380/1'],
    ['redis+sentinel://u:hunter2@a:26379,b:26379/m', 'redis+sentinel://…@a:26379,b:26379/m'],
    ['smtps://mail:hunter2@smtp.example', 'smtps://…@smtp.example'],
    ['https://hunter2@acme.example/directory', 'https://…@acme.example/directory'],
    ['mysql://db.example/shop?password=hunter2&x=1', 'mysql://db.example/shop?password=…&x=1'],
    ['https://a.example/?x=1&api_key=hunter2', 'https://a.example/?x=1&api_key=…'],
    ['sqlite:var/animal-store.db', 'sqlite:var/animal-store.db'],
    ['https://zoo.example/v1', 'https://zoo.example/v1'],
  ])('%s is shown as %s', (url, shown) => {
    expect(withoutUser(url)).toBe(shown);
  });
});

describe('a message', () => {
  const redact = redaction({
    SECRET_KEY: 'the secret key of the shop',
    SECRET_KEY_PREVIOUS: 'the one before it, long enough',
    ACME_EAB_HMAC: 'c2VjcmV0LWhtYWM',
    DATABASE_URL: 'mysql://shop:p%40ssw%C3%B6rd@db.example/shop',
    REDIS_URL: 'redis+sentinel://zoo:hunter2-a@a,b:26379/zoo?sentinelPassword=hunter2-b',
    PATH: '/usr/bin',
  });

  test.each([
    'bad key: the secret key of the shop.',
    'bad key: the one before it, long enough',
    'malformed HMAC c2VjcmV0LWhtYWM',
    'access denied, using password p@sswörd',
    'access denied, using password p%40ssw%C3%B6rd',
    'cannot parse redis://x:p@sswörd@redis.example',
    'WRONGPASS hunter2-a',
    'WRONGPASS hunter2-b',
  ])('%j is shown without its secret', (text) => {
    const shown = redact(text);
    expect(shown).toContain('…');
    expect(shown).not.toMatch(/secret key of|one before|c2Vj|p@ss|p%40|hunter2/);
  });

  test('without a secret is not changed', () => {
    const text = 'connect ECONNREFUSED 127.0.0.1:3306, see /usr/bin and mail a@b.example';
    expect(redact(text)).toBe(text);
  });
});
