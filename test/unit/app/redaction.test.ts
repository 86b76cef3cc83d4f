import { describe, expect, test } from '@jest/globals';
import { redaction, withoutUser } from '../../../src/app/settings/redaction.ts';

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
  ])('%j loses its secret', (text) => {
    const shown = redact(text);
    expect(shown).toContain('…');
    expect(shown).not.toMatch(/secret key of|one before|c2Vj|p@ss|p%40|hunter2/);
  });

  test('without a secret is not changed', () => {
    const text = 'connect ECONNREFUSED 127.0.0.1:3306, see /usr/bin and mail a@b.example';
    expect(redact(text)).toBe(text);
  });
});
