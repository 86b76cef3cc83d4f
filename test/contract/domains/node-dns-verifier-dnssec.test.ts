import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NodeDnsVerifier } from '../../../src/adapters/dns/node-dns-verifier.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';
import type { DnsFacts } from '../../../src/domains/domain/dns/facts.ts';
import { reportOn } from '../../../src/domains/domain/dns/report.ts';
import { expectation as usual } from '../../support/domains/known-dns.ts';
import {
  signZone,
  writeZone,
  type Signatures,
  startUnbound,
  zoneInFile,
  type Unbound,
} from '../../support/servers/unbound.ts';

/** The platform is not below `test`, because Unbound itself answers for names there. */
const expectation = { ...usual, platformHost: 'platform.example' };
const host = 'shop.customer.example';
const target = `${expectation.token}.${expectation.platformHost}`;
const zone = {
  name: 'customer.example',
  records: [
    `shop IN CNAME ${target}.`,
    '@ IN A 192.0.2.10',
    `_animal-store-challenge IN TXT "animal-store-verify=${expectation.token}"`,
  ],
};
/** The platform's zone, and the zone above the customer's. Neither is signed. */
const others = [
  { name: expectation.platformHost, records: [`${expectation.token} IN A 192.0.2.10`] },
  { name: 'example', records: [] },
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dnssec-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const open: Unbound[] = [];
afterAll(() => Promise.all(open.map((one) => one.stop())));

/** @returns a resolver for each, in the form that the verifier accepts */
const resolversFor = async (
  signatures: Signatures,
  ...validates: readonly boolean[]
): Promise<readonly string[]> => {
  const signed = await signZone(folder, zone, signatures);
  const unsigned = await Promise.all(
    others.map(async (one) => ({ name: one.name, file: await writeZone(folder, one) })),
  );
  const [first, ...rest] = [...unsigned, signed].map(zoneInFile);
  if (!first) throw new Error('there is no zone');
  const started = await Promise.all(
    validates.map((does) =>
      startUnbound({ zones: [first, ...rest], trusted: does ? [signed.key] : [] }),
    ),
  );
  open.push(...started);
  return started.map(({ port }) => `127.0.0.1:${port}`);
};

const inspect = (servers: readonly string[], name = host): Promise<DnsFacts> =>
  new NodeDnsVerifier({
    servers,
    clock: new SystemClock(),
    randomLabel: () => 'made-up',
    perTryMs: 600_000,
    deadlineMs: 600_000,
  }).inspect(name);

describe('a zone with expired signatures', () => {
  let servers: readonly string[];
  beforeAll(async () => {
    servers = await resolversFor('expired', true, true, false);
  });

  test('is refused by validating resolvers, which say why, and answered by the others', async () => {
    const { resolvers } = await inspect(servers);
    const bogus = {
      cname: { kind: 'failed', reason: 'servfail' },
      unchecked: { question: `CNAME ${host}`, errors: [expect.anything()] },
    };
    expect(resolvers).toMatchObject([bogus, bogus, { cname: { kind: 'records' } }]);
    expect(resolvers[2]).not.toHaveProperty('unchecked');
  });

  test.each([host, 'customer.example'])('keeps %s from being verified', async (name) => {
    const isApex = name === 'customer.example';
    const report = reportOn(await inspect(servers, name), { ...expectation, isApex });
    expect(report.verifiable).toBe(false);
    expect(report.problems.map(({ code }) => code)).toEqual(['dnssec_bogus']);
    expect(report.problems[0]?.seen).toMatch(
      /; extended error (6 \(DNSSEC Bogus|7 \(Signature Expired)\)/,
    );
  });

  test('is detected if one resolver validates, even when the others see nothing wrong', async () => {
    const [validating = '', , other = ''] = servers;
    const report = reportOn(await inspect([other, other, validating]), expectation);
    expect(report.problems[0]?.code).toBe('dnssec_bogus');
    expect(report.verifiable).toBe(false);
  });

  test('looks correct to resolvers that do not validate', async () => {
    const [, , other = ''] = servers;
    expect(reportOn(await inspect([other]), expectation).problems).toEqual([]);
  });
});

test('a correctly signed zone is accepted by all resolvers', async () => {
  const servers = await resolversFor('valid', true, false);
  const facts = await inspect(servers);
  expect(facts.resolvers.map(({ unchecked }) => unchecked)).toEqual([undefined, undefined]);
  expect(reportOn(facts, expectation).problems).toEqual([]);
});
