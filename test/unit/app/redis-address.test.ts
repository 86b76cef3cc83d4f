import { describe, expect, test } from '@jest/globals';
import { readRedisAddress } from '../../../src/adapters/redis/redis-address.ts';

const usual = { sentinels: undefined, database: '0', timeoutMs: undefined };

describe('the address of one server', () => {
  test.each([
    ['redis://127.0.0.1:6379', { url: 'redis://127.0.0.1:6379' }],
    ['rediss://zoo:p%40ss@a.test:6380/2', { database: '2' }],
    ['redis://a.test?commandTimeout=2000', { url: 'redis://a.test', timeoutMs: 2000 }],
    ['redis://a.test?commandTimeout=soon', { url: 'redis://a.test' }],
    ['redis://a.test?family=6', { url: 'redis://a.test?family=6' }],
  ])('%s is read', (text, expected) => {
    expect(readRedisAddress(text)).toEqual({ ...usual, url: text, ...expected });
  });
});

describe('the address of sentinels', () => {
  const two = [
    { host: 'a', port: 26379 },
    { host: 'b', port: 26380 },
  ];
  const plain = { hosts: two, name: 'zoo', username: undefined, password: undefined };

  test.each([
    ['redis+sentinel://a:26379,b:26380/zoo', 'redis://primary', '0', {}],
    ['redis+sentinel://a,b:26380/zoo/3', 'redis://primary/3', '3', {}],
    ['rediss+sentinel://:secret@a,b:26380/zoo', 'rediss://:secret@primary', '0', { usesTls: true }],
    [
      'redis+sentinel://u:p%40ss@a,b:26380/zoo?sentinelUsername=s&sentinelPassword=t%20t',
      'redis://u:p%40ss@primary',
      '0',
      { username: 's', password: 't t' },
    ],
    [
      'redis+sentinel://[::1]:5000/zoo.main-1',
      'redis://primary',
      '0',
      { hosts: [{ host: '::1', port: 5000 }], name: 'zoo.main-1' },
    ],
  ])('%s is read', (text, url, database, sentinels) => {
    expect(readRedisAddress(text)).toEqual({
      ...usual,
      url,
      database,
      sentinels: { ...plain, usesTls: false, ...sentinels },
    });
  });

  test('may contain a waiting time', () => {
    const address = readRedisAddress('redis+sentinel://a/zoo?commandTimeout=2000');
    expect(address).toMatchObject({ url: 'redis://primary', timeoutMs: 2000 });
  });

  test.each([
    ...['redis+sentinel://a:26379', 'redis+sentinel://a:26379/', 'redis+sentinel:///zoo'],
    ...['redis+sentinel://a,,b/zoo', 'redis+sentinel://a:x/zoo', 'redis+sentinel://a:70000/zoo'],
    ...['redis+sentinel://a/zoo/x', 'redis+sentinel://a/zoo?db=2', 'sentinel://a/zoo'],
    ...['redis-sentinel://a/zoo', 'http+sentinel://a/zoo', 'redis://a,b/zoo'],
  ])('%s is refused', (text) => {
    expect(readRedisAddress(text)).toBeUndefined();
  });
});
