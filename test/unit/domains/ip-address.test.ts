import { describe, expect, test } from '@jest/globals';
import {
  isInNetwork,
  isSameAddress,
  isUnspecified,
} from '../../../src/domains/domain/dns/facts.ts';

describe('two spellings are one address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1', '192.0.2.001'],
    ['2001:db8::1', '2001:DB8:0:0:0:0:0:1'],
    ['::', '0:0:0:0:0:0:0:0'],
    ['2001:db8::', '2001:db8:0::'],
    ['::ffff:192.0.2.1', '::ffff:c000:201'],
  ])('%s and %s', (one, other) => {
    expect(isSameAddress(one, other)).toBe(true);
    expect(isSameAddress(other, one)).toBe(true);
  });
});

describe('two texts are not the same address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.2'],
    ['192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8::1', '2001:db8:1::'],
    ['::1', '0.0.0.1'],
    ['', ''],
    ['shop.example.com', 'shop.example.com'],
    ['1.2.3', '1.2.3'],
    ['1.2.3.256', '1.2.3.256'],
    ['1:2:3:4:5:6:7', '1:2:3:4:5:6:7'],
    ['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:8:9'],
    ['1::2::3', '1::2::3'],
    ['1:2:3:4:5:6:7::8', '1:2:3:4:5:6:7::8'],
    ['12345::', '12345::'],
    [':1', ':1'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
  ])('%s and %s', (one, other) => {
    expect(isSameAddress(one, other)).toBe(false);
  });
});

test('a network holds the addresses with its first bits', () => {
  const network = '172.64.0.0/13';
  expect(['172.64.0.0', '172.71.255.255'].every((one) => isInNetwork(one, network))).toBe(true);
  expect(['172.63.255.255', '172.72.0.0'].some((one) => isInNetwork(one, network))).toBe(false);
  expect(isInNetwork('2a06:98c7:ffff::1', '2a06:98c0::/29')).toBe(true);
  expect(isInNetwork('2a06:98c8::', '2a06:98c0::/29')).toBe(false);
});

test('0.0.0.0 and :: in any spelling are unspecified addresses', () => {
  expect(['0.0.0.0', '::', '0::0'].every(isUnspecified)).toBe(true);
  expect(['127.0.0.1', '::1', '', 'host'].some(isUnspecified)).toBe(false);
});
