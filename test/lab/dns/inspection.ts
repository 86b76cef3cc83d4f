import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { NodeDnsVerifier } from '../../../src/adapters/dns/node-dns-verifier.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { startDns, type DnsServer } from './server.ts';

export const host = 'shop.customer.test';
export const target = 'token.platform.test';
export const address = '192.0.2.10';

/** A correctly configured host, with CAA records at its parent. */
export const rightZone = {
  [host]: { CNAME: [target] },
  [target]: { A: [address], AAAA: ['2001:db8::10'] },
  [`_animal-store-challenge.${host}`]: { TXT: ['animal-store-verify=token'] },
  'customer.test': { CAA: [{ tag: 'issue', value: 'ca.test' }] },
};

export const records = (...all: unknown[]): unknown =>
  expect.objectContaining({ kind: 'records', records: all });
export const failed = (reason: string): unknown => ({ kind: 'failed', reason });
export const none = { kind: 'none' };
export const absent = { kind: 'no_such_name' };

/** The facts about `host` in `rightZone`. */
export const right: Partial<Record<keyof ResolverFacts, unknown>> = {
  cname: records(target),
  chain: { names: [target], end: 'reached' },
  a: records(address),
  aaaa: records('2001:db8::10'),
  txt: records('animal-store-verify=token'),
  sibling: absent,
  isZoneApex: false,
};

export const allAre = (answer: unknown, end: string): unknown =>
  expect.objectContaining({
    cname: answer,
    chain: { names: [], end },
    a: answer,
    aaaa: answer,
    txt: answer,
    sibling: answer,
    isZoneApex: false,
    caa: expect.arrayContaining([{ name: host, answer }]),
  });

interface Patience {
  readonly perTryMs?: number;
  readonly deadlineMs?: number;
  readonly asksForDelegation?: boolean;
}

/** Longer than any test, so that nothing times out on a busy machine. */
const patient = { perTryMs: 600_000, deadlineMs: 600_000 };

/** For queries that get no answer. */
export const impatient = { perTryMs: 250 };

interface Inspections {
  readonly dns: DnsServer;
  all(host: string, patience?: Patience): Promise<readonly ResolverFacts[]>;
  one(host: string, patience?: Patience): Promise<ResolverFacts>;
}

/** For one test file. Each test begins with `rightZone`, without faults or queries. */
export const openInspections = (): Inspections => {
  let opened: Inspections;
  beforeAll(async () => {
    opened = await startInspections();
  });
  afterAll(() => opened.dns.close());
  beforeEach(() => {
    opened.dns.setZone(rightZone);
    opened.dns.setFaults({});
    opened.dns.log.length = 0;
  });
  return {
    get dns() {
      return opened.dns;
    },
    all: (...asked) => opened.all(...asked),
    one: (...asked) => opened.one(...asked),
  };
};

/** Three resolvers, and verifiers that query them. */
const startInspections = async (): Promise<Inspections> => {
  const dns = await startDns();
  let labels = 0;
  const inspect = async (
    servers: readonly string[],
    name: string,
    patience: Patience = {},
  ): Promise<readonly ResolverFacts[]> => {
    const verifier = new NodeDnsVerifier({
      servers,
      clock: new SystemClock(),
      randomLabel: () => `made-up-${++labels}`,
      ...patient,
      ...patience,
    });
    return (await verifier.inspect(name)).resolvers;
  };
  return {
    dns,
    all: (name, patience) => inspect(dns.servers, name, patience),
    one: async (name, patience) => (await inspect(dns.servers.slice(0, 1), name, patience))[0]!,
  };
};

/** The number of queries to the first resolver. */
export const timesAsked = ({ log }: DnsServer, name: string, type: string): number =>
  log.filter((query) => query.view === 0 && query.name === name && query.type === type).length;
