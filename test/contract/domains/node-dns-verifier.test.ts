import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { NodeDnsVerifier } from '../../../src/adapters/dns/node-dns-verifier.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import type { DnsFault } from '../../lab/dns/sockets.ts';
import {
  absent,
  allAre,
  failed,
  host,
  impatient,
  openInspections,
  right,
  target,
  timesAsked,
} from '../../lab/dns/inspection.ts';
import { holdTimeouts } from '../../support/held-timeouts.ts';
import { until } from '../../support/until.ts';

const inspect = openInspections();
afterEach(() => void jest.useRealTimers());

const everyFailure: readonly (DnsFault & { readonly reason: string })[] = [
  { rcode: 'SERVFAIL', reason: 'servfail' },
  { rcode: 'REFUSED', reason: 'refused' },
  { rcode: 'NOTIMP', reason: 'refused' },
  { rcode: 'FORMERR', reason: 'malformed' },
];

test.each(everyFailure)(
  '$rcode for every query is reported as $reason',
  async ({ reason, ...fault }) => {
    inspect.dns.setFaults({ '*': fault });
    expect(await inspect.one(host)).toEqual(allAre(failed(reason), 'failed'));
  },
);

test('a name too long to have a challenge name is not delegated', async () => {
  const long = `${Array.from({ length: 5 }, () => 'a'.repeat(45)).join('.')}.customer.test`;
  const ask = (name: string) => inspect.one(name, { asksForDelegation: true });
  expect((await ask(host)).delegation).toEqual(absent);
  expect((await ask(long)).delegation).toEqual({ kind: 'none' });
});

test.each([{ drop: true }, { badId: true }])(
  'a missing answer, or one to another question, is a timeout: %j',
  async (fault) => {
    inspect.dns.setFaults({ '*': fault });
    const facts = await inspect.one(host, impatient);
    expect(facts).toEqual(allAre(failed('timeout'), 'failed'));
    await until('all that was asked arrived', () => {
      return ['A', 'CAA'].every((type) => timesAsked(inspect.dns, host, type) >= 2);
    });
    expect(timesAsked(inspect.dns, host, 'A')).toBe(2);
    expect(timesAsked(inspect.dns, host, 'CAA')).toBe(2);
  },
);

test('a closed port is unreachable', async () => {
  const randomLabel = () => 'made-up';
  const clock = new SystemClock();
  const servers = ['127.0.0.1:1'];
  const verifier = new NodeDnsVerifier({ servers, clock, randomLabel, perTryMs: 60_000 });
  const { resolvers } = await verifier.inspect(host);
  expect(resolvers).toEqual([allAre(failed('unreachable'), 'failed')]);
});

describe('a query that fails only the first time', () => {
  const proof = `_animal-store-challenge.${host}`;
  const failOnce = (fault: DnsFault): void => {
    const once = { ...fault, times: 1 };
    inspect.dns.setFaults({
      [host]: { ...once, types: ['A'] },
      [target]: { ...once, types: ['CNAME'] },
      'customer.test': { ...once, types: ['CAA'] },
      [proof]: once,
    });
  };
  const expectRight = (facts: ResolverFacts): void => {
    expect(facts).toMatchObject(right);
    expect(facts.caa.at(-1)).toMatchObject({ name: 'customer.test', answer: { kind: 'records' } });
    expect(timesAsked(inspect.dns, host, 'A')).toBe(2);
    expect(timesAsked(inspect.dns, 'customer.test', 'CAA')).toBe(2);
  };

  test.each<DnsFault>([{ rcode: 'SERVFAIL' }, { rcode: 'REFUSED' }])(
    'is retried: %j',
    async (fault) => {
      failOnce(fault);
      expectRight(await inspect.one(host));
    },
  );

  test.each<DnsFault>([{ drop: true }, { badId: true }])(
    'is retried after its timeout: %j',
    async (fault) => {
      failOnce(fault);
      holdTimeouts();
      const inspection = inspect.one(host, { perTryMs: 2000 });
      await until('all failed once', () =>
        (
          [
            [host, 'A'],
            [target, 'CNAME'],
            ['customer.test', 'CAA'],
            [proof, 'TXT'],
          ] as const
        ).every(([name, type]) => timesAsked(inspect.dns, name, type) === 1),
      );
      await jest.advanceTimersByTimeAsync(2000);
      expectRight(await inspection);
    },
  );
});

test('an absent name is not queried again', async () => {
  inspect.dns.setFaults({ '*': { rcode: 'NXDOMAIN' } });
  expect(await inspect.one(host)).toEqual(allAre(absent, 'reached'));
  expect(timesAsked(inspect.dns, host, 'A')).toBe(1);
  expect(timesAsked(inspect.dns, host, 'CAA')).toBe(1);
});

test('a truncated answer is fetched over TCP', async () => {
  inspect.dns.setFaults({ '*': { truncate: true } });
  const facts = await inspect.one(host);
  expect(facts).toMatchObject(right);
  expect(facts.caa.at(-1)).toMatchObject({ name: 'customer.test', answer: { kind: 'records' } });
});

test('an unreadable answer is malformed and is not queried again', async () => {
  const broken = new Uint8Array([0, 9, 1]);
  const its = { A: [broken], AAAA: [broken], CAA: [broken] };
  inspect.dns.setZone({ [host]: its, [`_animal-store-challenge.${host}`]: { TXT: [broken] } });
  const malformed = failed('malformed');
  expect(await inspect.one(host)).toMatchObject({
    a: malformed,
    aaaa: malformed,
    txt: malformed,
    caa: [{ name: host, answer: malformed }],
  });
  expect(timesAsked(inspect.dns, host, 'A')).toBe(1);
  expect(timesAsked(inspect.dns, host, 'CAA')).toBe(1);
});

test.each([
  ['127.0.0.1:53', '127.0.0.1'],
  ['127.0.0.1:5353', '127.0.0.1:5353'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['[::1]:5353', '[::1]:5353'],
])('the server address %s is shown as %s', async (server, name) => {
  const randomLabel = () => 'made-up';
  const options = { servers: [server], clock: new SystemClock(), randomLabel, deadlineMs: 1 };
  const { resolvers } = await new NodeDnsVerifier(options).inspect(host);
  expect(resolvers.map(({ resolver }) => resolver)).toEqual([name]);
});

test.each(['', 'dns.test', '127.0.0.1:', '127.0.0.1:0', '127.0.0.1:65536', '[127.0.0.1]', '127.1'])(
  'the server address %j is refused at the start',
  (server) => {
    const options = { clock: new SystemClock(), randomLabel: () => 'made-up' };
    const make = (): unknown => new NodeDnsVerifier({ ...options, servers: [server] });
    expect(make).toThrow('is not the address of a DNS server');
  },
);
