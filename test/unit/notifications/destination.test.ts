import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import {
  blockedPorts,
  longestUrl,
  mayBeSentTo,
  readDestination,
  isLoopback,
  isPublic,
} from '../../../src/notifications/domain/destination.ts';

const production = { allowsThisMachine: false };
const lab = { allowsThisMachine: true };

const explanationOf = (text: string, rules = production): string => {
  const read = readDestination(text, rules);
  return read.kind === 'refused' ? read.explanation : `usable: ${read.destination.url}`;
};
const begins = 'Enter an address that begins with https://, like https://example.com/hooks.';
const withoutUser =
  'Leave user and password out of the address: the signature proves that the call is from us.';
const notPublic = 'This is not a public address. Webhooks are sent to the public internet only.';

/**
 * IANA's registries of special-purpose addresses for IPv4 and IPv6, of multicast, and of unallocated
 * addresses, with the addresses of cloud metadata in them. Independent of the code, so that no entry can be
 * lost.
 */
const registered = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.0.0/29', '192.0.0.8/32', '192.0.0.9/32'],
  ...['192.0.0.10/32', '192.0.0.170/32', '192.0.0.171/32', '192.0.2.0/24', '192.31.196.0/24'],
  ...['192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '255.255.255.255/32'],
  ...['::1/128', '::/128', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64'],
  ...[
    '100:0:0:1::/64',
    '2001::/23',
    '2001::/32',
    '2001:1::1/128',
    '2001:1::2/128',
    '2001:1::3/128',
  ],
  ...[
    '2001:2::/48',
    '2001:3::/32',
    '2001:4:112::/48',
    '2001:10::/28',
    '2001:20::/28',
    '2001:30::/28',
  ],
  ...['2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20', '5f00::/16', 'fc00::/7'],
  ...['fe80::/10', 'fec0::/10', 'ff00::/8', '::/96', '4000::/3', '8000::/1'],
  // Metadata of AWS, Google, Azure, DigitalOcean; of Oracle; of Alibaba; AWS and Google over IPv6; agent of Azure.
  ...['169.254.169.254/32', '192.0.0.192/32', '100.100.100.200/32', 'fd00:ec2::254/128'],
  ...['fd20:ce::254/128', '168.63.129.16/32'],
];

const within = (network: string) => {
  const [base, bits] = ipaddr.parseCIDR(network);
  const bytes = base.toByteArray();
  const first = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const size = 1n << BigInt(bytes.length * 8 - bits);
  return fc.bigInt(first, first + size - 1n);
};
const isV4 = (network: string): boolean => !network.includes(':');
const networksOf = (v4: boolean) => registered.filter((network) => isV4(network) === v4);

const prefixes: Readonly<Record<number, string>> = { 8: '0', 16: '0x' };

const inWritten = (part: bigint, base: number): string =>
  `${prefixes[base] ?? ''}${part.toString(base)}`;

/** The formats of `inet_aton`: one to four parts, each decimal, octal or hexadecimal. */
const anyV4Text = (address: bigint) =>
  fc
    .tuple(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }),
    )
    .map(([parts, bases]) => {
      const firsts = [24n, 16n, 8n].slice(0, parts - 1).map((shift) => (address >> shift) & 255n);
      const rest = address & ((1n << BigInt(8 * (5 - parts))) - 1n);
      return [...firsts, rest].map((part, at) => inWritten(part, bases[at] ?? 10)).join('.');
    });

const disguises: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `${text}.`,
  (text) => text.toUpperCase().replaceAll('X', 'x'),
  (text) => text.replaceAll('.', '。'),
  (text) => text.replaceAll('.', '%2e'),
  (text) => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (text) => text.replace(/\d/g, (digit) => `%3${digit}`),
];

const dotted = (address: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 255n)).join('.');
const halves = (address: bigint): string =>
  `${(address >> 16n).toString(16)}:${(address & 0xffffn).toString(16)}`;

/** All the ways in which an IPv6 address can contain an IPv4 address. */
const carriers: readonly ((address: bigint) => string)[] = [
  (one) => `[::ffff:${dotted(one)}]`,
  (one) => `[::FFFF:${halves(one)}]`,
  (one) => `[0:0:0:0:0:ffff:${halves(one)}]`,
  (one) => `[::${dotted(one)}]`,
  (one) => `[::ffff:0:${dotted(one)}]`,
  (one) => `[64:ff9b::${dotted(one)}]`,
  (one) => `[64:ff9b:1::${dotted(one)}]`,
  (one) => `[2002:${halves(one)}::1]`,
  (one) => `[2001:0:${halves(one)}::1]`,
  (one) => `[2001:0:4136:e378:8000:63bf:${halves(one ^ 0xffffffffn)}]`,
];

const groups = (address: bigint): readonly string[] =>
  Array.from({ length: 8 }, (_, at) =>
    ((address >> BigInt(16 * (7 - at))) & 0xffffn).toString(16).padStart(4, '0'),
  );
const v6Texts: readonly ((address: bigint) => string)[] = [
  (one) => `[${groups(one).join(':')}]`,
  (one) => `[${groups(one).join(':').toUpperCase()}]`,
  (one) =>
    `[${groups(one)
      .map((group) => group.replace(/^0+(?=.)/, ''))
      .join(':')}]`,
  (one) => `[${ipaddr.parse(groups(one).join(':')).toString()}]`,
  (one) => `[${groups(one).slice(0, 6).join(':')}:${dotted(one & 0xffffffffn)}]`,
];

test.each(registered)(
  'a webhook cannot have an address in %s, from its first to its last',
  (network) => {
    const size = 1n << BigInt((isV4(network) ? 32 : 128) - Number(network.split('/')[1]));
    const write = (address: bigint): string =>
      isV4(network) ? dotted(address) : groups(address).join(':');
    const [base, bits] = ipaddr.parseCIDR(network);
    const first = base.toByteArray().reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
    const isRefused = (address: bigint): boolean => !mayBeSentTo(write(address), production);
    expect([bits, isRefused(first), isRefused(first + size - 1n)]).toEqual([bits, true, true]);
    fc.assert(fc.property(within(network), isRefused), { numRuns: 10 });
  },
);

describe('an address of a special range is refused', () => {
  test.each(networksOf(true))('however it is written: %s', (network) => {
    const texts = within(network)
      .chain((address) => fc.tuple(anyV4Text(address), fc.constantFrom(...disguises)))
      .map(([text, disguise]) => disguise(text));
    fc.assert(
      fc.property(texts, (text) => {
        expect([text, explanationOf(`https://${text}/hooks`)]).toEqual([text, notPublic]);
      }),
      { numRuns: 15 },
    );
  });

  test.each(networksOf(false))('however it is written: %s', (network) => {
    const texts = fc
      .tuple(within(network), fc.constantFrom(...v6Texts))
      .map(([address, write]) => write(address));
    fc.assert(
      fc.property(texts, (text) => {
        expect([text, explanationOf(`https://${text}/hooks`)]).toEqual([text, notPublic]);
      }),
      { numRuns: 15 },
    );
  });

  test('even inside an IPv6 address, where even a public one is refused', () => {
    // `[::0.0.0.1]` is this machine, which the lab may call.
    const others = fc.bigInt(0n, 0xffffffffn).filter((address) => address !== 1n);
    fc.assert(
      fc.property(others, fc.constantFrom(...carriers), (address, carry) => {
        const text = carry(address);
        expect([text, explanationOf(`https://${text}/`, lab)]).toEqual([text, notPublic]);
      }),
    );
  });

  test('even if it is any part of IPv6 that is not allocated to networks', () => {
    const outside = fc.bigInt(0n, (1n << 128n) - 1n).filter((address) => address >> 125n !== 1n);
    fc.assert(
      fc.property(outside, (address) => {
        expect(isPublic(groups(address).join(':'))).toBe(false);
      }),
    );
  });

  test('even if it is not an address in the usual form', () => {
    for (const text of ['fe80::1%eth0', '2600::1%1', '010.1.1.1', '0x7f.1', '1.1', '', 'a.b']) {
      expect([text, isPublic(text)]).toEqual([text, false]);
    }
  });
});

test.each(['https://8.8.8.8/', 'https://0x8.0x8.2056/', 'https://[2606:4700::1111]/'])(
  'A webhook can be sent to a public address: %s',
  (text) => {
    expect(readDestination(text, production)).toMatchObject({ kind: 'usable' });
  },
);

test.each([
  ['https://Hooks.Birds.example:8443/a/b?c=d#e', 'https://hooks.birds.example:8443/a/b?c=d'],
  ['https://birds.example.:443//127.0.0.1/', 'https://birds.example.//127.0.0.1/'],
  ['https://bücher.example', 'https://xn--bcher-kva.example/'],
  ['https://birds.example/\\\\localhost', 'https://birds.example///localhost'],
])('%s is stored as %s, which means the same', (text, url) => {
  const read = readDestination(text, production);
  expect(read).toMatchObject({ kind: 'usable', destination: { url } });
  expect(readDestination(url, production)).toEqual(read);
});

test.each([
  ['http://birds.example/', begins],
  ['ftp://birds.example/', begins],
  ['javascript:alert(1)', begins],
  ['file:///etc/passwd', begins],
  ['birds.example/hooks', begins],
  ['https://', begins],
  ['https://[fe80::1%25eth0]/', begins],
  ['https://1.2.3.4.5/', begins],
  ['https://birds.example@127.0.0.1/', withoutUser],
  ['https://:secret@birds.example/', withoutUser],
])('%s is refused: %s', (text, explanation) => {
  expect(explanationOf(text)).toBe(explanation);
});

test('An address with too many characters is refused', () => {
  const rest = longestUrl - 'https://birds.example/'.length;
  expect(explanationOf(`https://birds.example/${'a'.repeat(rest)}`)).toMatch(/^usable/);
  expect(explanationOf(`https://birds.example/${'a'.repeat(rest + 1)}`)).toBe(
    'An address has at most 2000 characters.',
  );
});

test.each([
  'localhost',
  'a.localhost',
  'db',
  'printer.local',
  'db.prod.internal',
  'a.home.arpa',
  'birds.test',
  'a..b',
])('A name that only local machines know is refused: %s', (host) => {
  expect(explanationOf(`https://${host}/`)).toMatch(/^This name is not in public DNS\./);
  expect(explanationOf(`https://${host}./`)).toMatch(/^This name is not in public DNS\./);
});

test('Ports below 1024 other than 443, and the ports of other protocols and databases, are refused', () => {
  const isRefused = (port: number): boolean =>
    explanationOf(`https://birds.example:${port}/`).startsWith('Webhooks go to port 443');
  const below = Array.from({ length: 1023 }, (_, at) => at + 1).filter((port) => port !== 443);
  expect([...below, ...blockedPorts].filter((port) => !isRefused(port))).toEqual([]);
  expect([443, 1024, 3000, 8443, 65_535].filter(isRefused)).toEqual([]);
});

test('The error about a refused port names the usual port of the protocol', () => {
  expect(explanationOf('http://127.0.0.1:9/x', production)).toContain('begins with https://');
  expect(explanationOf('http://127.0.0.1:9/x', lab)).toMatch(
    /^Webhooks over plain HTTP go to port 80,/,
  );
});

describe('In tests and labs', () => {
  test.each(['http://127.0.0.1:3000/', 'http://[::1]/', 'https://127.9.9.9/', 'http://birds.test'])(
    'webhooks can be sent to this machine and to names below .test: %s',
    (text) => {
      expect(explanationOf(text, lab)).toMatch(/^usable/);
    },
  );

  test('no other special address is allowed', () => {
    for (const network of registered) {
      fc.assert(
        fc.property(within(network), (address) => {
          const text = isV4(network) ? dotted(address) : groups(address).join(':');
          expect(mayBeSentTo(text, lab)).toBe(isLoopback(text));
        }),
        { numRuns: 10 },
      );
    }
    expect(explanationOf('http://10.0.0.1/', lab)).toBe(notPublic);
  });
});

test('No text causes an exception', () => {
  const url = fc
    .record({ host: fc.domain(), port: fc.nat(70_000), path: fc.string(), query: fc.string() })
    .map(({ host, port, path, query }) => `https://${host}:${String(port)}/${path}?${query}`);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        url,
        fc.string().map((text) => `https://${text}`),
      ),
      (text) => {
        expect(['usable', 'refused']).toContain(readDestination(text, production).kind);
      },
    ),
  );
});

test('a name has at most 253 characters, and 63 in each label, as in DNS', () => {
  const label = 'a'.repeat(63);
  const named = (length: number) => {
    const name = `${label}.${label}.${label}.${label}`.slice(0, length - '.example'.length);
    return explanationOf(`https://${name}.example/in`);
  };
  expect(named(253)).toMatch(/^usable/);
  const tooLong =
    'The name in an address has at most 253 characters, and at most 63 between two dots.';
  expect(named(254)).toBe(tooLong);
  expect(explanationOf(`https://${label}.example./in`)).toMatch(/^usable/);
  expect(explanationOf(`https://${label}a.example/in`)).toBe(tooLong);
  expect(explanationOf(`https://${'ü.'.repeat(200)}example/in`)).not.toMatch(/^usable/);
});
