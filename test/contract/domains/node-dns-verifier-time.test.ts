import { afterEach, expect, jest, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NodeDnsVerifier } from '../../../src/adapters/dns/node-dns-verifier.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';
import {
  address,
  allAre,
  failed,
  host,
  openInspections,
  right,
  rightZone,
  target,
  timesAsked,
} from '../../lab/dns/inspection.ts';
import { holdTimeouts } from '../../support/held-timeouts.ts';
import { until } from '../../support/until.ts';

const inspect = openInspections();
afterEach(() => void jest.useRealTimers());

const openFiles = (): number => readdirSync('/dev/fd').length;

/** Resolves after all earlier queries have been answered. */
const othersAreAnswered = () => inspect.one('nobody.test');

test('a resolver that never answers does not delay the others', async () => {
  const perTryMs = 500;
  const [, hangs] = inspect.dns.views;
  hangs!.setFaults({ '*': { drop: true } });
  const asked = (view: number, name: string, type: string) =>
    inspect.dns.log.filter((it) => it.view === view && it.name === name && it.type === type).length;
  holdTimeouts();
  const inspection = inspect.all(host, { perTryMs });
  await until('the others are at their last question', () =>
    [0, 2].every((view) => asked(view, target, 'CNAME') === 1),
  );
  await othersAreAnswered();
  await jest.advanceTimersByTimeAsync(perTryMs);
  await until('it is asked again', () => asked(1, host, 'A') === 2);
  await jest.advanceTimersByTimeAsync(perTryMs);
  const [first, hanging, third] = await inspection;
  expect(hanging).toEqual(allAre(failed('timeout'), 'failed'));
  for (const facts of [first, third]) expect(facts).toMatchObject(right);
  expect([first, hanging, third].map((facts) => facts?.tookMs)).toEqual([0, 2 * perTryMs, 0]);
});

test('queries that are open at the deadline fail, and finished ones count', async () => {
  const far = 'far.platform.test';
  inspect.dns.setZone({ ...rightZone, [target]: { CNAME: [far] }, [far]: { A: [address] } });
  inspect.dns.setFaults({
    [target]: { drop: true, types: ['CNAME'] },
    'customer.test': { delayMs: 600_000, types: ['CAA'] },
  });
  holdTimeouts();
  const inspection = inspect.one(host, { deadlineMs: 400 });
  await until('the last question came', () => timesAsked(inspect.dns, target, 'CNAME') === 1);
  await othersAreAnswered();
  await jest.advanceTimersByTimeAsync(400);
  const facts = await inspection;
  expect(facts).toMatchObject({
    cname: right.cname,
    chain: { names: [target], end: 'failed' },
    txt: right.txt,
    caa: [
      { name: host, answer: { kind: 'none' } },
      { name: 'customer.test', answer: failed('timeout') },
    ],
    tookMs: 400,
  });
});

test('a slow answer has its full time even after fast ones', async () => {
  const names = ['b', 'c', 'd', 'e', 'f'].map((label) => `${label}.customer.test`);
  const hops = [host, ...names].map(
    (name, at) => [name, { CNAME: [names[at] ?? target] }] as const,
  );
  inspect.dns.setZone({ ...rightZone, ...Object.fromEntries(hops) });
  const [perTryMs, last] = [500, names.at(-1)!];
  const timesLast = () => timesAsked(inspect.dns, last, 'CNAME');
  const silent = { drop: true };
  inspect.dns.setFaults({ [host]: silent, [last]: silent });
  holdTimeouts();
  const inspection = inspect.one(host, { perTryMs });
  await until('it began', () => timesAsked(inspect.dns, host, 'CNAME') === 1);
  await jest.advanceTimersByTimeAsync(perTryMs - 1);
  inspect.dns.setFaults({ [last]: silent });
  await jest.advanceTimersByTimeAsync(1);
  await until('the last name is asked', () => timesLast() === 1);
  await jest.advanceTimersByTimeAsync(perTryMs - 1);
  await othersAreAnswered();
  expect(timesLast()).toBe(1);
  inspect.dns.setFaults({});
  await jest.advanceTimersByTimeAsync(1);
  expect((await inspection).chain).toEqual({ names: [...names, target], end: 'reached' });
});

test('two hundred concurrent hosts use a limited number of sockets, which are all closed afterwards', async () => {
  const wildcard = { '*.customer.test': { CNAME: [target] } };
  inspect.dns.setZone({ ...rightZone, ...wildcard });
  const before = openFiles();
  const verifier = new NodeDnsVerifier({
    servers: inspect.dns.servers,
    clock: new SystemClock(),
    randomLabel: () => 'made-up',
    // More time than a busy machine needs. Queries with a lost datagram are repeated.
    perTryMs: 8_000,
    deadlineMs: 100_000,
  });
  const hosts = Array.from({ length: 200 }, (_, n) => `shop-${n}.customer.test`);
  const inspections = hosts.map((name) => verifier.inspect(name));
  await nextTurn();
  expect(openFiles() - before).toBeLessThan(1_000);
  for (const { resolvers } of await Promise.all(inspections)) {
    for (const { cname, a, sibling } of resolvers) {
      expect([cname, a, sibling]).toEqual([right.cname, right.a, right.cname]);
    }
  }
  await until('all sockets are closed', () => openFiles() <= before);
});

test('cancelled queries leave no socket open', async () => {
  const before = openFiles();
  inspect.dns.setFaults({ '*': { drop: true } });
  await inspect.all(host, { deadlineMs: 50 });
  await until('all sockets are closed', () => openFiles() <= before);
});

test('queries whose answers no longer matter are cancelled', async () => {
  const before = openFiles();
  inspect.dns.setZone({ [host]: { CAA: [{ tag: 'issue', value: 'ca.test' }] } });
  const silent = { drop: true, types: ['CAA'] } as const;
  inspect.dns.setFaults({ 'customer.test': silent, test: silent });
  // The connection would stay open for longer than any test may take.
  await inspect.one(host);
  expect(timesAsked(inspect.dns, 'customer.test', 'CAA')).toBe(1);
  await until('all sockets are closed', () => openFiles() <= before);
});
