import { expect, test } from '@jest/globals';
import type { CaaRecord, DnsFacts, ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { reportOn } from '../../../src/domains/domain/dns/report.ts';
import {
  decisiveFirst,
  keptAnswers,
  mostKeptBytes,
} from '../../../src/domains/domain/dns/judgement.ts';
import {
  asked,
  expectation,
  facts,
  ownership,
  records,
  rightCname,
} from '../../support/domains/known-dns.ts';

const many = <Item>(count: number, make: (n: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, n) => make(n));
const txt = (count: number) => many(count, (n) => `v=spf1 include:${n}.example.com -all`);
const address = (n: number) => `198.51.100.${n % 250}`;
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const keptOf = (known: Partial<ResolverFacts>) => {
  const one = { ...facts(known), resolver: '192.0.2.1' };
  return keptAnswers([decisiveFirst(one, expectation)])[0]!;
};
const report = (known: Partial<ResolverFacts>, expected = expectation) =>
  reportOn(asked(known), expected);
const codesOf = (known: Partial<ResolverFacts>, expected = expectation) =>
  report(known, expected).problems.map(({ code }) => code);
const caaAt = (...all: readonly CaaRecord[]) => ({
  caa: [{ name: 'shop.example.com', answer: records(...all) }],
});
const issue = (value: string): CaaRecord => ({ flags: 0, tag: 'issue', value });

test('only the first twenty of many records are stored, with the number of the rest', () => {
  const { a } = keptOf({ a: records(...many(1000, address)) });
  expect(a).toEqual({
    kind: 'records',
    records: many(20, address),
    ttl: 300,
    more: 980,
  });
});

test('a few short records are stored unchanged', () => {
  const known = { ...rightCname, txt: records(...txt(5)), ...caaAt(issue('ca.test')) };
  const { resolver: _, ...kept } = keptOf(known);
  expect(kept).toEqual(facts(known));
});

test('the answers about the delegation are limited to the first twenty too', () => {
  const names = many(1000, (n) => `${n}.${'x'.repeat(60)}.example`);
  const { delegation } = keptOf({ delegation: records(...names) });
  expect(delegation).toMatchObject({ kind: 'records', records: names.slice(0, 20), more: 980 });
  const large = { delegation: records('x'.repeat(60_000)), txt: records(...txt(1000)) };
  expect(bytesOf(keptOf(large))).toBeLessThanOrEqual(mostKeptBytes);
});

test('only 512 characters of a long text are stored', () => {
  const { txt: kept } = keptOf({ txt: records('x'.repeat(60_000)) });
  expect(kept).toMatchObject({ records: [`${'x'.repeat(511)}…`] });
});

test('a proof among fifty TXT records is found, stored and shown first', () => {
  const known = {
    ...rightCname,
    txt: records(...txt(49), ...('records' in ownership ? ownership.records : [])),
  };
  const contested = { ...expectation, isContested: true };
  expect(report(known, contested)).toMatchObject({ ownershipProven: true, verifiable: true });
  expect(keptOf(known).txt).toMatchObject({ records: { 0: 'animal-store-verify=t1' }, more: 30 });
  expect(report(known, contested).resolvers[0]?.seen).toMatch(
    /TXT "animal-store-verify=t1", .*, and \d+ more/,
  );
});

test('the 21st CAA record is stored first when it allows the certificate', () => {
  const known = {
    ...rightCname,
    ...caaAt(...many(20, (n) => issue(`ca${n}.example`)), issue('ca.test')),
  };
  expect(codesOf(known)).toEqual([]);
  expect(keptOf(known).caa.at(-1)?.answer).toMatchObject({
    records: { 0: issue('ca.test') },
    more: 1,
  });
});

test('the 21st CAA record is stored first when it forbids the certificate, and is reported', () => {
  const critical = { flags: 128, tag: 'unknown', value: 'x'.repeat(1000) };
  const known = { ...rightCname, ...caaAt(...many(20, () => issue('ca.test')), critical) };
  expect(codesOf(known)).toEqual(['caa_forbids_issuer']);
  expect(keptOf(known).caa.at(-1)?.answer).toMatchObject({
    records: { 0: { tag: 'unknown' } },
    more: 1,
  });
});

test('the one foreign address among many of ours is shown first', () => {
  const apex = { ...expectation, isApex: true };
  const known = {
    a: records(...many(30, () => '192.0.2.10'), '198.51.100.9'),
  };
  expect(codesOf(known, apex)).toContain('alias_wrong_address');
  expect(keptOf(known).a).toMatchObject({ records: { 0: '198.51.100.9' }, more: 11 });
});

test.each(['txt', 'a', 'caa'] as const)(
  'an answer that is too large is a separate problem: %s',
  (type) => {
    const tooLarge = { kind: 'failed', reason: 'too_large' } as const;
    const answers = {
      txt: { txt: tooLarge },
      a: { cname: { kind: 'none' }, a: tooLarge } as const,
      caa: { caa: [{ name: 'shop.example.com', answer: tooLarge }] },
    }[type];
    const expected = { ...expectation, isContested: type === 'txt', isApex: type === 'a' };
    const { problems, verifiable } = report({ ...rightCname, ...answers }, expected);
    expect(problems[0]).toMatchObject({
      code: 'dns_answer_too_large',
      severity: 'blocking',
      actor: 'customer',
    });
    expect(verifiable).toBe(false);
  },
);

/** The largest answers that the adapter accepts, in characters that take the most space in JSON. */
const worst = (resolvers: number): DnsFacts => {
  const long = '\u0000'.repeat(253);
  const full = records(...many(1000, () => '\u0001'.repeat(65)));
  const names = many(10, (n) => `${n}${'a'.repeat(250)}`);
  const levels = many(126, (n) => ({ name: 'x.'.repeat(126 - n), answer: { kind: 'none' } }));
  const all = many(resolvers, (n) => ({
    ...facts({
      cname: full,
      a: full,
      aaaa: full,
      txt: records('\u0000'.repeat(65_000)),
      sibling: full,
      chain: { names, end: 'too_long' },
      caa: [
        ...(levels as ResolverFacts['caa']),
        {
          name: 'x',
          answer: records(...many(300, () => ({ flags: 255, tag: long.slice(38), value: long }))),
        },
      ],
    }),
    resolver: `198.51.100.${n}`,
  }));
  return { ...asked({}), resolvers: all };
};

test.each([1, 3])('the largest answers of %i resolvers take little space', (resolvers) => {
  const { host, checkedAt, resolvers: all } = worst(resolvers);
  const kept = keptAnswers(all.map((one) => decisiveFirst(one, expectation)));
  expect(bytesOf(kept)).toBeLessThan(mostKeptBytes + resolvers * 1500);
  for (const one of kept) {
    for (const answer of [one.cname, one.a, one.aaaa, one.txt, one.sibling])
      expect(answer).toMatchObject({ kind: 'records', records: { length: expect.any(Number) } });
    expect(one.caa.at(-1)?.answer).toMatchObject({ records: { 0: { flags: 255 } } });
  }
  const judged = reportOn({ host, checkedAt, resolvers: all }, expectation);
  expect(bytesOf(judged)).toBeLessThan(resolvers * 12_000);
});
