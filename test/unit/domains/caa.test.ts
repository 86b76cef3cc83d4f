import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { caaVerdict } from '../../../src/domains/domain/dns/caa.ts';
import type { CaaLevel, CaaRecord, DnsAnswer } from '../../../src/domains/domain/dns/facts.ts';
import { absent, none, records, servfail } from '../../support/domains/known-dns.ts';

const policy = {
  authority: 'ca.test',
  issuers: ['ca.test', 'other-name-of-ca.test'],
  accountUri: 'https://ca.test/acct/1',
  method: 'http-01',
  isWildcard: false,
} as const;

const names = ['shop.example.com', 'example.com', 'com'];

/** The answers from the host upwards; missing levels have no records. */
const levels = (...answers: readonly DnsAnswer<CaaRecord>[]): readonly CaaLevel[] =>
  names.map((name, at) => ({ name, answer: answers[at] ?? none }));

const issue = (value: string, flags = 0): CaaRecord => ({ flags, tag: 'issue', value });
const at = (...all: readonly CaaRecord[]): readonly CaaLevel[] => levels(records(...all));

describe('CAA allows our authority', () => {
  test.each<[string, readonly CaaLevel[], string | undefined]>([
    ['without records', levels(), undefined],
    ['without the names', levels(absent, absent, absent), undefined],
    ['when the host names it', at(issue('ca.test')), names[0]],
    ['by any of its names', at(issue('other-name-of-ca.test')), names[0]],
    ['when the parent names it', levels(none, records(issue('ca.test'))), names[1]],
    ['beside another one', at(issue('else.test'), issue('ca.test')), names[0]],
    ['beside a record that forbids all', at(issue(';'), issue('ca.test')), names[0]],
    [
      'when records concern only wildcards',
      at({ flags: 0, tag: 'issuewild', value: ';' }),
      names[0],
    ],
    ['when records concern only mail', at({ flags: 128, tag: 'issuemail', value: ';' }), names[0]],
    ['with a critical iodef', at({ flags: 128, tag: 'iodef', value: 'mailto:a@b.test' }), names[0]],
    ['with an unknown tag', at({ flags: 0, tag: 'tbs', value: 'x' }), names[0]],
    ['with unknown flags', at(issue('ca.test', 2)), names[0]],
    ['with a critical issue', at(issue('ca.test', 128)), names[0]],
    ['with the tag in capitals', at({ flags: 0, tag: 'ISSUE', value: 'ca.test' }), names[0]],
    ['with blanks around it', at(issue(' \tca.test\t ')), names[0]],
    ['followed by a semicolon', at(issue('ca.test; ')), names[0]],
    ['for our account', at(issue(`ca.test; accounturi=${policy.accountUri}`)), names[0]],
    ['for our method', at(issue('ca.test;validationmethods = dns-01,http-01')), names[0]],
    [
      'with an unknown parameter',
      at(issue('ca.test; a-b=c=d; validationmethods=http-01')),
      names[0],
    ],
    ['when a level above fails', levels(records(issue('ca.test')), none, servfail), names[0]],
  ])('%s', (_, found, level) => {
    expect(caaVerdict(found, policy)).toEqual({ kind: 'allowed', level });
  });
});

describe('for a wildcard', () => {
  const wanted = { ...policy, isWildcard: true };
  const wild = (value: string): CaaRecord => ({ flags: 0, tag: 'IssueWild', value });

  test.each<[string, readonly CaaRecord[], 'allowed' | 'forbidden']>([
    ['issuewild allows it, although issue forbids it', [issue(';'), wild('ca.test')], 'allowed'],
    ['issuewild forbids it, although issue allows it', [issue('ca.test'), wild(';')], 'forbidden'],
    ['issuewild of another authority forbids it', [issue('ca.test'), wild('x.test')], 'forbidden'],
    ['one issuewild of several allows it', [wild(';'), wild('ca.test')], 'allowed'],
    ['a malformed issuewild allows nothing', [issue('ca.test'), wild('%')], 'forbidden'],
    ['issue counts without issuewild', [issue(';')], 'forbidden'],
    ['issue allows it without issuewild', [issue('ca.test')], 'allowed'],
    ['neither exists', [{ flags: 0, tag: 'iodef', value: 'mailto:a@b.test' }], 'allowed'],
    [
      'issuewild for the other method forbids it',
      [issue('ca.test'), wild('ca.test; validationmethods=dns-01')],
      'forbidden',
    ],
  ])('%s', (_, all, kind) => {
    expect(caaVerdict(at(...all), wanted)).toMatchObject({ kind, level: names[0] });
  });

  test('the lowest level with any record decides, even one that does not mention wildcards', () => {
    const found = levels(records(issue('ca.test')), records(wild(';')));
    expect(caaVerdict(found, wanted)).toEqual({ kind: 'allowed', level: names[0] });
  });
});

describe('a CAA value', () => {
  const valueOf = (length: number) => `ca.test;${' '.repeat(length - 8)}`;

  test('may have 1024 characters, and allows nothing with one more', () => {
    expect(caaVerdict(at(issue(valueOf(1024))), policy)).toMatchObject({ kind: 'allowed' });
    const verdict = caaVerdict(at(issue(valueOf(1025))), policy);
    expect(verdict).toMatchObject({ kind: 'forbidden', why: 'malformed' });
  });

  test.each([
    ['blanks', ' '],
    ['tabs and blanks', '\t '],
    ['semicolons', ';'],
    ['hyphens', '-'],
    ['equals signs', '='],
  ])('of 60 000 %s allows nothing', (_, letters) => {
    const value = `x${letters.repeat(60_000 / letters.length)}y`;
    expect(caaVerdict(at(issue(value)), policy)).toMatchObject({ why: 'malformed' });
  });
});

describe('CAA forbids our authority', () => {
  test.each([
    ['when another one is named', [issue('else.test')], 'other_authority'],
    ['when its name is spelt differently', [issue('CA.test')], 'other_authority'],
    ['when only a part of its name is there', [issue('a.test')], 'other_authority'],
    ['with a semicolon', [issue(';')], 'nobody'],
    ['with an empty value', [issue('')], 'nobody'],
    ['with blanks', [issue(' ')], 'nobody'],
    ['for nobody, with a parameter', [issue('; a=b')], 'nobody'],
    [
      'with an unknown critical tag',
      [{ flags: 128, tag: 'tbs', value: 'x' }, issue('ca.test')],
      'unknown_critical_tag',
    ],
    [
      'with the flag that many use for critical',
      [{ flags: 1, tag: 'tbs', value: 'x' }],
      'unknown_critical_tag',
    ],
    ['for another account', [issue('ca.test; accounturi=https://ca.test/acct/2')], 'other_account'],
    [
      'with two accounts',
      [issue(`ca.test; accounturi=${policy.accountUri}; accounturi=https://ca.test/acct/2`)],
      'other_account',
    ],
    [
      'with our account twice',
      [issue(`ca.test; accounturi=${policy.accountUri}; accounturi=${policy.accountUri}`)],
      'other_account',
    ],
    [
      'with our method twice',
      [issue('ca.test; validationmethods=http-01; validationmethods=http-01')],
      'other_method',
    ],
    ['for another method', [issue('ca.test; validationmethods=dns-01')], 'other_method'],
    [
      'for a method with the same beginning as ours',
      [issue('ca.test; validationmethods=http-011')],
      'other_method',
    ],
    ['with unreadable methods', [issue('ca.test; validationmethods=http-01, dns-01')], 'malformed'],
    ['with an empty method', [issue('ca.test; validationmethods=http-01,')], 'other_method'],
    ['with an invalid name', [issue('ca_x.test')], 'malformed'],
    ['with two names', [issue('ca.test else.test')], 'malformed'],
    ['with a parameter without a value', [issue('ca.test; policy')], 'malformed'],
    ['with an invalid tag', [issue('ca.test; a_b=c')], 'malformed'],
    ['with a blank within a value', [issue('ca.test; a=b c')], 'malformed'],
    ['with a semicolon at the end of parameters', [issue('ca.test; a=b;')], 'malformed'],
    ['with a letter beyond ASCII', [issue('ca.test; a=ü')], 'malformed'],
  ] as const)('%s', (_, set, why) => {
    expect(caaVerdict(at(...set), policy)).toMatchObject({
      kind: 'forbidden',
      level: names[0],
      why,
    });
  });

  test('at the host, whatever the parent says', () => {
    const found = levels(records(issue('else.test')), records(issue('ca.test')));
    expect(caaVerdict(found, policy)).toMatchObject({ kind: 'forbidden', level: names[0] });
  });

  test('at any parent name', () => {
    const found = levels(none, absent, records(issue('else.test')));
    expect(caaVerdict(found, policy)).toEqual({
      kind: 'forbidden',
      level: 'com',
      record: issue('else.test'),
      why: 'other_authority',
    });
  });

  test('and the record at the closest level is the one reported', () => {
    const close = issue('ca.test; validationmethods=dns-01');
    const verdict = caaVerdict(at(issue(';'), close, issue('else.test')), policy);
    expect(verdict).toMatchObject({ record: close, why: 'other_method' });
  });

  test('if they allow only one account, while we have no account', () => {
    const found = at(issue(`ca.test; accounturi=${policy.accountUri}`));
    const verdict = caaVerdict(found, { ...policy, accountUri: undefined });
    expect(verdict).toMatchObject({ kind: 'forbidden', why: 'other_account' });
  });
});

test('a failed lookup below the first records could hide a refusal', () => {
  const allowed = records(issue('ca.test'));
  for (const found of [
    levels(servfail, allowed),
    levels(none, servfail),
    levels(absent, servfail),
  ]) {
    expect(caaVerdict(found, policy)).toMatchObject({ kind: 'failed', reason: 'servfail' });
  }
});

test('CAA is ignored for an authority without a CAA name', () => {
  const found = [levels(servfail), at(issue(';')), at({ flags: 128, tag: 'tbs', value: '' })];
  for (const one of found) {
    const verdict = caaVerdict(one, { ...policy, issuers: [] });
    expect(verdict).toEqual({ kind: 'allowed', level: undefined });
  }
});

test('a record allows us only if its value begins with our name', () => {
  const value = fc.oneof(
    fc.string(),
    fc.string().map((rest) => `else.test;${rest}`),
  );
  fc.assert(
    fc.property(value, (text) => {
      fc.pre(!text.trimStart().startsWith('ca.test'));
      expect(caaVerdict(at(issue(text)), policy).kind).toBe('forbidden');
    }),
  );
});
