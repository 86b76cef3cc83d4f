import { describe, expect, test } from '@jest/globals';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import {
  dnsProblem,
  dnsProblems,
  type DnsProblemCode,
} from '../../../src/domains/domain/dns/problem.ts';
import { reportOn, type DnsExpectation } from '../../../src/domains/domain/dns/report.ts';
import {
  absent,
  asked,
  checkedAt,
  cname,
  expectation,
  host,
  none,
  ownership,
  records,
  rightCname,
  servfail,
  timeout,
} from '../../support/domains/known-dns.ts';

type Known = Partial<ResolverFacts>;

const apex = { ...expectation, isApex: true };
const alias: Known = {
  a: records('192.0.2.10'),
  aaaa: records('2001:DB8:0::0010'),
  txt: ownership,
};
const proxied: Known = { a: records('104.16.0.1', '172.67.1.1'), aaaa: records('2606:4700::1') };
const nothing: Known = { cname: absent, a: absent, aaaa: absent, txt: absent };

const codesOf = (known: readonly Known[], expected: DnsExpectation = expectation) =>
  reportOn(asked(...known), expected).problems.map(({ code }) => code);

test('a name that leads to its own target has no problem', () => {
  expect(reportOn(asked(rightCname), expectation)).toEqual({
    checkedAt,
    problems: [],
    resolvers: ['198.51.100.1', '198.51.100.2', '198.51.100.3'].map((resolver) => ({
      resolver,
      tookMs: 5,
      seen: 'CNAME t1.sites.test; CAA allows it',
      ttl: 300,
      agrees: true,
    })),
    isApex: false,
    ownershipRequired: false,
    ownershipProven: false,
    pointsHere: true,
    mayIssue: ['ca.test'],
    verifiable: true,
  });
});

describe('all resolvers agree', () => {
  test.each<[what: string, known: Known, codes: readonly DnsProblemCode[], seen: string]>([
    ['on a missing name', nothing, ['dns_not_found'], 'no such name'],
    ['on no records', {}, ['cname_missing'], 'no CNAME'],
    ['on another target', cname('else.test'), ['cname_wrong_target'], 'CNAME else.test'],
    [
      'on the target of another domain',
      cname('t2.sites.test'),
      ['cname_wrong_target'],
      'CNAME t2.sites.test',
    ],
    [
      'on such a target through another name',
      cname('t2.sites.test', 'sites.test'),
      ['cname_wrong_target'],
      'CNAME t2.sites.test → sites.test',
    ],
    [
      'on a name with the same ending as ours',
      cname('t1.notsites.test'),
      ['cname_wrong_target'],
      'CNAME t1.notsites.test',
    ],
    [
      'on two targets',
      { ...rightCname, cname: records('t1.sites.test', 'else.test') },
      ['cname_wrong_target'],
      'CNAME t1.sites.test and else.test',
    ],
    [
      'on an A record instead of the CNAME',
      { a: records('203.0.113.1', '203.0.113.2') },
      ['conflicting_a'],
      'A 203.0.113.1, 203.0.113.2',
    ],
    [
      'on our own address instead of the CNAME',
      { a: records('192.0.2.10') },
      ['conflicting_a'],
      'A 192.0.2.10',
    ],
    [
      'on an AAAA record instead of the CNAME',
      { aaaa: records('2001:db8::bad') },
      ['conflicting_aaaa'],
      'AAAA 2001:db8::bad',
    ],
    [
      'on both address records instead of the CNAME',
      { a: records('203.0.113.1'), aaaa: records('::1') },
      ['conflicting_a', 'conflicting_aaaa'],
      'A 203.0.113.1',
    ],
    [
      'on an old A record beside the CNAME',
      { ...rightCname, a: records('192.0.2.10', '203.0.113.1') },
      ['conflicting_a'],
      'A 203.0.113.1',
    ],
    [
      'on an old AAAA record beside the CNAME',
      { ...rightCname, aaaa: records('::1') },
      ['conflicting_aaaa'],
      'AAAA ::1',
    ],
    [
      'on a loop',
      {
        ...cname('a.test', 'b.test', 'a.test'),
        chain: { names: ['a.test', 'b.test'], end: 'loop' },
      },
      ['cname_loop'],
      'CNAME a.test → b.test',
    ],
    [
      'on too long a chain',
      { ...cname('a.test'), chain: { names: ['a.test'], end: 'too_long' } },
      ['cname_loop'],
      'CNAME a.test',
    ],
    [
      'on no answers',
      { cname: timeout, chain: { names: [], end: 'failed' }, a: timeout, aaaa: timeout },
      ['dns_lookup_failed'],
      '198.51.100.1: CNAME: timeout; 198.51.100.2: CNAME: timeout; 198.51.100.3: CNAME: timeout',
    ],
  ])('%s', (_, known, codes, seen) => {
    const { problems, verifiable, pointsHere } = reportOn(asked(known), expectation);
    expect(problems.map(({ code }) => code)).toEqual(codes);
    expect(problems[0]?.seen).toBe(seen);
    expect({ verifiable, pointsHere }).toEqual({ verifiable: false, pointsHere: false });
    expect(reportOn(asked(rightCname), expectation).verifiable).toBe(true);
  });

  test.each<[what: string, known: Known, codes: readonly DnsProblemCode[]]>([
    ['on no records', { txt: ownership }, ['apex_needs_alias']],
    ['on a CNAME elsewhere', { ...cname('else.test'), txt: ownership }, ['apex_needs_alias']],
    [
      'on a CNAME to the target of another domain',
      { ...cname('t2.sites.test'), txt: ownership },
      ['apex_needs_alias'],
    ],
    [
      'on two CNAME records',
      { ...rightCname, cname: records('t1.sites.test', 'else.test'), txt: ownership },
      ['apex_needs_alias'],
    ],
    ['on a missing name', nothing, ['dns_not_found', 'ownership_txt_missing']],
    ['on another address', { ...alias, a: records('203.0.113.1') }, ['alias_wrong_address']],
    [
      'on another address beside ours',
      { ...alias, a: records('192.0.2.10', '203.0.113.1') },
      ['alias_wrong_address'],
    ],
    [
      'on only another AAAA record',
      { ...alias, aaaa: records('2001:db8::bad') },
      ['alias_wrong_address'],
    ],
    ['on our addresses without a proof', { ...alias, txt: none }, ['ownership_txt_missing']],
    [
      "on another domain's proof",
      { ...alias, txt: records('animal-store-verify=t2') },
      ['ownership_txt_mismatch'],
    ],
    [
      'on a proof in quotation marks',
      { ...alias, txt: records('"animal-store-verify=t1"') },
      ['ownership_txt_mismatch'],
    ],
    ['on a failing AAAA', { ...alias, aaaa: servfail }, ['dns_lookup_failed']],
    ['on a failing TXT', { ...alias, txt: servfail }, ['dns_lookup_failed']],
  ])('%s at an apex', (_, known, codes) => {
    expect(codesOf([known], apex)).toEqual(codes);
    expect(reportOn(asked(alias), apex)).toMatchObject({
      verifiable: true,
      pointsHere: true,
      isApex: true,
    });
  });
});

describe('the TXT record is required', () => {
  const bare = cname('sites.test');
  const wildcard: Known = { ...rightCname, sibling: records('203.0.113.9') };
  const inOwnZone: Known = { ...rightCname, isZoneApex: true };
  test.each<[why: string, known: Known, expected: DnsExpectation]>([
    ['for an apex of the Public Suffix List', alias, apex],
    ['for the apex of a zone', inOwnZone, expectation],
    ['for a name that another account holds', rightCname, { ...expectation, isContested: true }],
    ['if every name beside it exists', wildcard, expectation],
    ['if the target is the bare platform host', bare, expectation],
    [
      'if the target is reached through another name',
      cname('alias.test', 'sites.test'),
      expectation,
    ],
  ])('%s', (_, known, expected) => {
    const without = reportOn(asked({ ...known, txt: none }), expected);
    expect(without).toMatchObject({
      ownershipRequired: true,
      ownershipProven: false,
      verifiable: false,
    });
    expect(without.problems.map(({ code }) => code)).toContain('ownership_txt_missing');
    const given = reportOn(asked({ ...known, txt: ownership }), expected);
    expect(given).toMatchObject({
      ownershipRequired: true,
      ownershipProven: true,
      verifiable: true,
    });
  });

  test('and other TXT records may exist beside it', () => {
    const txt = records('v=spf1 -all', ' animal-store-verify=t1 ');
    expect(reportOn(asked({ ...alias, txt }), apex).ownershipProven).toBe(true);
  });

  test('but not if the target alone proves the name', () => {
    const txt = records('animal-store-verify=t2');
    expect(codesOf([{ ...rightCname, txt }])).toEqual([]);
  });
});

describe('a warning blocks nothing', () => {
  test.each<[DnsProblemCode, Known]>([
    ['proxied', { ...proxied, txt: ownership }],
    ['proxied', { ...cname('shop.example.com.cdn.cloudflare.net'), txt: ownership }],
    ['wildcard_dns', { ...rightCname, sibling: records('203.0.113.9'), txt: ownership }],
    ['cname_chain', cname('www.example.com', 't1.sites.test')],
  ])('%s', (code, known) => {
    const { problems, verifiable } = reportOn(asked(known), expectation);
    expect(problems.map((one) => one.code)).toEqual([code]);
    expect({ verifiable, severity: problems[0]?.severity }).toEqual({
      verifiable: true,
      severity: 'warning',
    });
  });

  test('a proxy is also detected behind another name, and by an IPv4 address alone', () => {
    const behind = cname('www.example.com', 'www.example.com.cdn.cloudflare.net');
    for (const [known, seen] of [
      [behind, 'CNAME www.example.com → www.example.com.cdn.cloudflare.net'],
      [{ a: records('104.16.0.1') }, 'A 104.16.0.1'],
    ] as const) {
      const { problems } = reportOn(asked({ ...known, txt: ownership }), expectation);
      expect(problems).toMatchObject([{ code: 'proxied', seen }]);
    }
  });

  test('a proxy hides where the name leads, so it proves nothing', () => {
    const report = reportOn(asked(proxied), expectation);
    expect(report).toMatchObject({ pointsHere: false, ownershipRequired: true, verifiable: false });
    expect(reportOn(asked({ ...proxied, txt: ownership }), apex).problems).toHaveLength(1);
  });

  test('a foreign address next to the proxy’s is a problem', () => {
    const mixed = { a: records('104.16.0.1', '203.0.113.1'), txt: ownership };
    expect(codesOf([mixed])).toEqual(['conflicting_a']);
  });
});

describe('more than half of the resolvers have to agree', () => {
  test('a resolver that still returns an older answer is named, with its TTL', () => {
    const report = reportOn(asked(rightCname, cname('old.test'), rightCname), expectation);
    expect(report).toMatchObject({ verifiable: true, pointsHere: true });
    expect(report.problems).toEqual([
      dnsProblem('propagation_incomplete', {
        seen: '198.51.100.2 answers CNAME old.test for up to 300 s more',
        wanted: 'CNAME t1.sites.test',
        resolver: '198.51.100.2',
      }),
    ]);
    expect(report.resolvers.map(({ agrees }) => agrees)).toEqual([true, false, true]);
  });

  test('the longest TTL of several answers counts', () => {
    const ttl = (seconds: number, address: string) =>
      ({ kind: 'records', records: [address], ttl: seconds }) as const;
    const old: Known = { a: ttl(60, '203.0.113.1'), aaaa: ttl(900, '::1') };
    const { problems, resolvers } = reportOn(asked(rightCname, old, rightCname), expectation);
    expect(problems[0]?.seen).toContain('for up to 900 s more');
    expect(resolvers[1]?.ttl).toBe(900);
    const untold: Known = { a: { kind: 'records', records: ['203.0.113.1'], ttl: undefined } };
    const [problem] = reportOn(asked(rightCname, untold, rightCname), expectation).problems;
    expect(problem?.seen).toBe('198.51.100.2 answers A 203.0.113.1');
  });

  test('the TTL of a correct answer is that of the record that was created', () => {
    const known: Known = { ...rightCname, a: { kind: 'records', records: ['192.0.2.10'], ttl: 7 } };
    expect(reportOn(asked(known), expectation).resolvers[0]?.ttl).toBe(300);
    const [apexSeen] = reportOn(asked(alias), apex).resolvers;
    expect(apexSeen?.ttl).toBe(300);
  });

  test('one resolver that already sees the record is not enough', () => {
    const codes = codesOf([rightCname, {}, {}]);
    expect(codes).toEqual(['cname_missing', 'propagation_incomplete', 'propagation_incomplete']);
  });

  test('half is not more than half', () => {
    expect(codesOf([rightCname, cname('old.test')])).toEqual([
      'cname_wrong_target',
      'propagation_incomplete',
    ]);
  });

  test('a failing resolver neither confirms nor blocks anything', () => {
    const failed: Known = { cname: timeout };
    expect(codesOf([rightCname, failed, rightCname])).toEqual([]);
    expect(codesOf([rightCname, failed, failed])).toEqual(['dns_lookup_failed']);
    expect(codesOf([rightCname, failed, {}])).toEqual([
      'dns_lookup_failed',
      'propagation_incomplete',
    ]);
  });

  test('a record that most resolvers miss is missing, even when one fails', () => {
    expect(codesOf([{}, { cname: servfail }, {}])).toEqual(['cname_missing']);
    expect(codesOf([nothing, { cname: servfail }, nothing])).toEqual(['dns_not_found']);
  });

  test('the problem that most resolvers see is the one reported', () => {
    const old = cname('old.test');
    expect(codesOf([{}, old, old])).toEqual(['cname_wrong_target']);
    expect(codesOf([nothing, {}, old])).toEqual(['dns_not_found']);
  });

  test('a wildcard or an apex that only one resolver sees does not count', () => {
    const odd = { ...rightCname, sibling: records('203.0.113.9'), isZoneApex: true };
    expect(reportOn(asked(rightCname, odd, rightCname), expectation)).toMatchObject({
      isApex: false,
      ownershipRequired: false,
      problems: [],
    });
  });

  test('nothing is known without any resolver', () => {
    const report = reportOn({ host, checkedAt, resolvers: [] }, expectation);
    expect(report.problems.map(({ code }) => code)).toEqual(['dns_lookup_failed']);
  });
});

const levels = (at: string, ...values: readonly string[]) =>
  [host, 'example.com', 'com'].map((name) => ({
    name,
    answer:
      name === at ? records(...values.map((value) => ({ flags: 0, tag: 'issue', value }))) : none,
  }));
const wanted = 'example.com. CAA 0 issue "ca.test"';

describe('CAA records', () => {
  test('that forbid our authority are reported with their level and the line to add', () => {
    const { problems, verifiable } = reportOn(
      asked({ ...rightCname, caa: levels('example.com', 'else.test') }),
      expectation,
    );
    const seen = 'example.com. CAA 0 issue "else.test" (names another authority)';
    expect(problems).toEqual([dnsProblem('caa_forbids_issuer', { seen, wanted })]);
    expect(verifiable).toBe(false);
    const changed = { ...rightCname, caa: levels('example.com', 'ca.test') };
    expect(reportOn(asked(changed), expectation).verifiable).toBe(true);
  });

  test('with an unknown critical tag must be removed', () => {
    const record = { flags: 128, tag: 'tbs', value: 'x' };
    const caa = [{ name: host, answer: records(record) }];
    const { problems } = reportOn(
      asked({ caa, a: records('104.16.0.1'), txt: ownership }),
      expectation,
    );
    expect(problems[0]).toMatchObject({ wanted: `no ${host}. CAA 128 tbs "x"` });
  });

  test('at a name with a CNAME come from its target', () => {
    const { problems } = reportOn(asked({ ...rightCname, caa: levels(host, ';') }), expectation);
    expect(problems[0]).toMatchObject({ code: 'caa_forbids_issuer' });
    expect(problems[0]?.fix).toContain('t1.sites.test');
  });

  test('that cannot be looked up block the certificate', () => {
    const caa = [
      { name: host, answer: none },
      { name: 'example.com', answer: servfail },
    ];
    const { problems } = reportOn(asked({ ...rightCname, caa }), expectation);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ code: 'dns_lookup_failed' });
    expect(problems[0]?.seen).toContain('CAA of example.com: servfail');
  });

  test('are ignored for an authority that has no name for them', () => {
    const caa = expectation.caa.map((policy) => ({ ...policy, issuers: [] }));
    const forbidden = { ...rightCname, caa: levels(host, ';') };
    expect(codesOf([forbidden], { ...expectation, caa })).toEqual([]);
  });

  test('do not choose between authorities while the name of ours is unknown', () => {
    const caa = expectation.caa.map((policy) => ({ ...policy, issuers: undefined }));
    const reportOf = (...values: readonly string[]) =>
      reportOn(asked({ ...rightCname, caa: levels(host, ...values) }), { ...expectation, caa });
    const named = reportOf('ca.test');
    expect(named.problems.map(({ code }) => code)).toEqual(['ca_unavailable']);
    expect(named).toMatchObject({ mayIssue: [], verifiable: true });
    expect(reportOf(';').problems[0]?.code).toBe('caa_forbids_issuer');
    expect(codesOf([rightCname], { ...expectation, caa })).toEqual([]);
  });
});

test('a failure of our own name server behind the correct target is not the owner’s problem', () => {
  const chain = { names: ['t1.sites.test'], end: 'failed' } as const;
  expect(codesOf([{ ...rightCname, chain, a: servfail, aaaa: servfail }])).toEqual([]);
  const elsewhere = {
    ...cname('else.test'),
    chain: { names: ['else.test'], end: 'failed' } as const,
  };
  expect(codesOf([elsewhere])).toEqual(['dns_lookup_failed']);
});

test('an address next to the CNAME is not a problem while the platform’s addresses are unknown', () => {
  const unknown = { ...expectation, platformAddresses: ['0.0.0.0', '::'] };
  expect(codesOf([{ ...rightCname, a: records('203.0.113.1') }], unknown)).toEqual([]);
});

test('a provider’s CNAME at an apparent apex is as good as an ALIAS', () => {
  expect(codesOf([{ ...rightCname, txt: ownership }], apex)).toEqual([]);
});

test('every problem says what to do, who does it, and how severe it is', () => {
  for (const [code, { severity, actor, fix }] of Object.entries(dnsProblems)) {
    expect([code, fix.length > 10, severity === 'ours']).toEqual([code, true, actor === 'us']);
  }
});

describe('CAA records with two authorities', () => {
  const caa = ['ca.test', 'other.test'].map((authority) => ({
    authority,
    issuers: [authority],
    accountUri: undefined,
    isWildcard: false,
    method: 'http-01' as const,
  }));
  const both: DnsExpectation = { ...expectation, caa };
  const found = (...values: readonly string[]) =>
    reportOn(asked({ ...rightCname, caa: levels(host, ...values) }), both);

  test.each<[string, readonly string[], readonly string[]]>([
    ['nothing', [], ['ca.test', 'other.test']],
    ['both', ['ca.test', 'other.test'], ['ca.test', 'other.test']],
    ['the first', ['ca.test'], ['ca.test']],
    ['the second', ['other.test'], ['other.test']],
    ['the second, beside an unknown one', ['else.test', 'other.test'], ['other.test']],
  ])('that name %s allow only those to issue', (_, values, mayIssue) => {
    const report = values.length === 0 ? reportOn(asked(rightCname), both) : found(...values);
    expect(report).toMatchObject({ problems: [], verifiable: true, mayIssue });
    const seen = report.resolvers.map((one) => one.seen).join();
    expect(seen).toContain(
      mayIssue.length === 1 ? `CAA allows only ${mayIssue.join()}` : 'CAA allows it',
    );
  });

  test.each([';', 'else.test'])('that allow neither, such as %s, forbid it', (value) => {
    const report = found(value);
    expect(report).toMatchObject({ verifiable: false, mayIssue: [] });
    expect(report.problems).toMatchObject([{ code: 'caa_forbids_issuer' }]);
    expect(report.problems[0]?.wanted).toContain('ca.test');
  });

  test('that resolvers see differently allow the authority that most agree on', () => {
    const facts = asked(
      { ...rightCname, caa: levels(host, 'other.test') },
      { ...rightCname, caa: levels(host, 'other.test') },
      { ...rightCname, caa: levels(host, 'ca.test') },
    );
    expect(reportOn(facts, both)).toMatchObject({ verifiable: true, mayIssue: ['other.test'] });
  });

  test('that cannot be looked up allow neither to issue', () => {
    const unheard = [{ name: host, answer: servfail }];
    const report = reportOn(asked({ ...rightCname, caa: unheard }), both);
    expect(report).toMatchObject({ verifiable: false, mayIssue: [] });
  });
});
