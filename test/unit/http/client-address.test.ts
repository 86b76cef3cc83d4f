import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addressBucket,
  clientAddress,
} from '../../../src/adapters/http/listener/client-address.ts';

const peer = '10.0.0.1';

describe('the address of a client', () => {
  test("is the peer's address when no proxy is trusted, whatever headers claim", () => {
    fc.assert(fc.property(fc.string(), (claim) => clientAddress(peer, claim, 0) === peer));
    expect(clientAddress(peer, '203.0.113.7', 0)).toBe(peer);
  });

  test.each([
    [1, '203.0.113.7', '203.0.113.7'],
    [1, '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    [2, '203.0.113.7, 10.0.0.2', '203.0.113.7'],
    [2, '198.51.100.1,203.0.113.7 ,10.0.0.2', '203.0.113.7'],
    [2, '203.0.113.7', '203.0.113.7'],
    [1, '2001:db8::7', '2001:db8::7'],
  ])('behind %i trusted proxies that say "%s" is %s', (trusted, said, address) => {
    expect(clientAddress(peer, said, trusted)).toBe(address);
  });

  test('is never an address that a client put before those of the trusted proxies', () => {
    const forged = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), { maxLength: 5 });
    fc.assert(
      fc.property(forged, fc.constantFrom(1, 2), (claims, trusted) => {
        const added = ['203.0.113.7', '10.0.0.2'].slice(0, trusted);
        const header = [...claims, ...added].join(', ');
        expect(clientAddress(peer, header, trusted)).toBe('203.0.113.7');
      }),
    );
  });

  test.each(['', ' ', 'unknown', '_hidden', '203.0.113.7:4711', '[2001:db8::7]:80', '1.2.3.4.5'])(
    'is the peer\'s address when a trusted proxy says "%s"',
    (said) => {
      expect(clientAddress(peer, said, 1)).toBe(peer);
    },
  );

  test("is the peer's address when a trusted proxy says nothing", () => {
    expect([1, 2].map((trusted) => clientAddress(peer, undefined, trusted))).toEqual([peer, peer]);
  });
});

describe('the rate limit bucket of an address', () => {
  test('of IPv4 is the address, even when it is mapped into IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(addressBucket(address)).toBe(address);
        expect(addressBucket(`::ffff:${address}`)).toBe(address);
      }),
    );
    expect(addressBucket('203.0.113.7')).not.toBe(addressBucket('203.0.113.8'));
  });

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['2001:db8:1:2::', '2001:0DB8:0001:0002:0:0:0:9', true],
    ['fe80::1%eth0', 'fe80::2', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['2001:db8:1:2::1', '2001:db8:2:2::1', false],
  ])('of IPv6 is its network: %s and %s share one: %s', (a, b, share) => {
    expect(addressBucket(a) === addressBucket(b)).toBe(share);
  });

  test('of IPv6 is shared by all of a /64 and by no other address', () => {
    const word = fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16));
    const four = fc.tuple(word, word, word, word).map((words) => words.join(':'));
    fc.assert(
      fc.property(four, four, four, four, (network, other, host, neighbour) => {
        fc.pre(network !== other && !`${network}${other}`.startsWith('0:0:0:0'));
        const bucket = addressBucket(`${network}:${host}`);
        expect(addressBucket(`${network}:${neighbour}`)).toBe(bucket);
        expect(addressBucket(`${other}:${host}`)).not.toBe(bucket);
      }),
    );
    expect(addressBucket('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
  });

  test('of anything else is shared by all', () => {
    for (const junk of ['', 'localhost', '203.0.113.7/24', '1.2.3.4:80', '🐦']) {
      expect(addressBucket(junk)).toBe('unknown');
    }
  });
});
