import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../support/seeded-random.ts';
import { hostNamed, portNamed, requestTargetOf } from '../../../src/adapters/edge/request-host.ts';
import { timesSent } from '../../../src/kernel/incoming.ts';

describe('the host that a request names', () => {
  test.each([
    ['rex.test', 'rex.test'],
    ['REX.Test', 'rex.test'],
    ['rex.test.', 'rex.test'],
    ['rex.test:8443', 'rex.test'],
    ['rex.test.:1', 'rex.test'],
    ['rex.test:65535', 'rex.test'],
    ['a', 'a'],
    ['_dmarc.rex.test', '_dmarc.rex.test'],
    ['xn--grn-hoa.test', 'xn--grn-hoa.test'],
    [`${'a'.repeat(249)}.com`, `${'a'.repeat(249)}.com`],
  ])('from "%s" is %s', (authority, host) => {
    expect(hostNamed(authority)).toBe(host);
  });

  test.each([
    undefined,
    '',
    '.',
    '..',
    '-a',
    'a-',
    'rex.test..',
    '.rex.test',
    'rex.test:',
    'rex.test:0',
    'rex.test:65536',
    'rex.test:100000',
    'rex.test:8a',
    'rex.test:-1',
    'u@rex.test',
    ...['rex.test/', 'rex.test?', 'rex.test#', 'rex.test\\evil', 'https://rex.test'],
    ...['u@a:99999', 'rex.test:80:80', 'a b', 'a\tb'],
    'rex.test\n',
    'rex.test ',
    ' rex.test',
    'rex.test\0',
    'a,b',
    '[::1]:80',
    'rexé.test',
    'a'.repeat(254),
  ])('cannot be read from "%s"', (authority) => {
    expect(hostNamed(authority)).toBeUndefined();
  });

  test('consists of letters, digits, dots, hyphens and underscores, whatever is sent', () => {
    const piece = fc.oneof(fc.constantFrom('a', '.', ':', '1', '-', '@', '/'), anyCharacter);
    const any = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(any, (authority) => {
        const host = hostNamed(authority);
        expect(host ?? 'a').toMatch(/^[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?$/);
        if (host !== undefined) expect(authority.toLowerCase().startsWith(host)).toBe(true);
      }),
    );
  });
});

test('the port is read from the request, if it names one', () => {
  expect(portNamed('rex.test:8080')).toBe(8080);
  expect(portNamed('rex.test')).toBeUndefined();
  expect(portNamed('')).toBeUndefined();
});

test('a header is counted in any case, and a value does not count as a name', () => {
  const names = (...headers: readonly string[]) => timesSent(headers, 'host');
  expect(names()).toBe(0);
  expect(names('Host', 'a')).toBe(1);
  expect(names('Host', 'a', 'X', 'b')).toBe(1);
  expect(names('Host', 'host', 'X', 'host')).toBe(1);
  expect(names('X', 'host', 'Y', 'host')).toBe(0);
  expect(names('Host', 'a', 'X', 'b', 'hOST', 'a')).toBe(2);
  expect(names('host', 'a', 'host', 'a', 'host', 'a')).toBe(3);
});

describe('the target of a request', () => {
  test.each([
    ['/', '/'],
    ['/a?b#c', '/a?b#c'],
    ['//evil.test', '//evil.test'],
    ['https://rex.test', '/'],
    ['https://rex.test/', '/'],
    ['HTTP://REX.test:80/a?b', '/a?b'],
    ['https://rex.test?b', '/?b'],
    ['https://rex.test/a#b', '/a'],
  ])('with the URL %s is the path %s of its host', (url, path) => {
    const target = requestTargetOf(url, 'Rex.test:8443');
    if (url.includes('#') && url.startsWith('http')) expect(target).toBeUndefined();
    else expect(target).toEqual({ host: 'rex.test', path });
  });

  test.each([
    ['/', undefined],
    ['/', ''],
    ['/', 'u@rex.test'],
    ['', 'rex.test'],
    ['*', 'rex.test'],
    ['a', 'rex.test'],
    ['?a', 'rex.test'],
    ['https://tom.test/', 'rex.test'],
    ['https://rex.test/', undefined],
    ['https://rex.test@tom.test/', 'rex.test'],
    ['https://u@rex.test/', 'rex.test'],
    ['https:///a', 'rex.test'],
    ['https:/rex.test', 'rex.test'],
    ['ftp://rex.test/', 'rex.test'],
    ['javascript:rex.test', 'rex.test'],
  ])('is invalid with the URL "%s" and the Host "%s"', (url, authority) => {
    expect(requestTargetOf(url, authority)).toBeUndefined();
  });

  test('is always a path that begins with a slash', () => {
    const piece = fc.oneof(
      fc.constantFrom('https://', 'rex.test', '/', '?', '#', ':', '@'),
      anyCharacter,
    );
    const any = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(any, (url) => {
        const target = requestTargetOf(url, 'rex.test');
        expect(target ?? { host: 'rex.test', path: '/' }).toMatchObject({
          host: 'rex.test',
          path: expect.stringMatching(/^\//),
        });
      }),
    );
  });
});
