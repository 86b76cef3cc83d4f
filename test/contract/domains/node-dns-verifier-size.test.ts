import { expect, test } from '@jest/globals';
import { encode, type Answer } from 'dns-packet';
import { decoded } from '../../../src/adapters/dns/wire-questions.ts';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import { checkDomain } from '../../../src/domains/use-cases/tend-domain.ts';
import { failed, host, openInspections, records, timesAsked } from '../../lab/dns/inspection.ts';
import { domainLab, host as ownHost } from '../../support/domains/domain-lab.ts';

const inspect = openInspections();

const many = <Item>(count: number, make: (n: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, n) => make(n));
const address = (n: number) => `198.18.${n >> 8}.${n & 255}`;
const sixth = (n: number) => `2001:db8::${n.toString(16)}`;
const caa = (n: number, length: number) => ({
  flags: 0,
  tag: 'issue',
  value: `ca${n}.test; x=${'&'.repeat(length)}`,
});

test('a thousand records are read completely', async () => {
  inspect.dns.setZone({ [host]: { A: many(1000, address) } });
  const { a } = await inspect.one(host);
  expect(a.kind === 'records' && a.records.toSorted()).toEqual(many(1000, address).toSorted());
});

test('sixty thousand characters of one TXT record are read completely', async () => {
  const text = many(235, () => '"'.repeat(255));
  inspect.dns.setZone({ [`_animal-store-challenge.${host}`]: { TXT: [text] } });
  expect((await inspect.one(host)).txt).toEqual(records(text.join('')));
});

test('more than a thousand records are too large and are not queried again', async () => {
  const its = { A: many(1001, address), AAAA: many(1001, sixth) };
  inspect.dns.setZone({ [host]: its });
  const { a, aaaa } = await inspect.one(host);
  expect([a, aaaa]).toEqual([failed('too_large'), failed('too_large')]);
  // Once over UDP, where the answer is truncated, and once over TCP.
  expect(timesAsked(inspect.dns, host, 'A')).toBe(2);
});

test('a message with thousands of records is not even read', () => {
  const answer: Answer = { type: 'A', name: host, data: '198.18.0.1' };
  const reply = (records: number) =>
    encode({ type: 'response', answers: [...many(records, () => answer)] });
  expect(decoded(reply(1000))?.answers).toHaveLength(1000);
  expect(decoded(reply(1101))).toBeUndefined();
});

/** As many records of every type as fit into one message over TCP. */
const fullest = (name: string) => ({
  [name]: {
    A: many(900, address),
    AAAA: many(900, sixth),
    CAA: many(60, (n) => caa(n, 900)),
  },
  [`_animal-store-challenge.${name}`]: { TXT: many(200, () => ['<'.repeat(255), '\\']) },
  [`*.${name.slice(name.indexOf('.') + 1)}`]: { A: many(900, address) },
});

test('the largest answers of all types are read, and take less than 32 KiB when stored', async () => {
  inspect.dns.setZone(fullest(ownHost));
  const lab = await domainLab();
  const domain = await lab.add();
  const resolvers = await inspect.all(ownHost);
  for (const { a, aaaa, txt, caa: levels } of resolvers)
    expect([a, aaaa, txt, levels[0]?.answer].map((answer) => answer?.kind)).toEqual(
      Array(4).fill('records'),
    );
  const dns = {
    inspect: () => Promise.resolve({ host: ownHost, checkedAt: lab.clock.now(), resolvers }),
  };
  const checked = await checkDomain({ ...lab.ports, dns })(domain, recordCheck);
  const codes = checked.dns.report?.problems.map(({ code }) => code);
  expect(codes).toEqual(
    expect.arrayContaining(['conflicting_a', 'conflicting_aaaa', 'caa_forbids_issuer']),
  );
  const [entry] = await lab.ports.timeline.list(domain.id, 1);
  expect(Buffer.byteLength(JSON.stringify(entry?.details))).toBeLessThan(32 * 1024);
  expect(Buffer.byteLength(JSON.stringify(checked))).toBeLessThan(32 * 1024);
});
