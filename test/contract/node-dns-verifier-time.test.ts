import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NodeDnsVerifier } from '../../src/adapters/dns/node-dns-verifier.ts';
import { SystemClock } from '../../src/adapters/system/system-clock.ts';
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
  type Inspections,
} from '../lab/dns-inspection.ts';
import { until } from '../support/until.ts';

let inspect: Inspections;
beforeAll(async () => {
  inspect = await openInspections();
});
afterAll(() => inspect.dns.close());
beforeEach(() => {
  inspect.dns.setZone(rightZone);
  inspect.dns.setFaults({});
  inspect.dns.log.length = 0;
});

const openFiles = (): number => readdirSync('/dev/fd').length;

test('a resolver that hangs costs its own tries and nobody else', async () => {
  inspect.dns.views[1]!.setFaults({ '*': { drop: true } });
  const [first, hanging, third] = await inspect.all(host, { perTryMs: 500 });
  expect(hanging).toEqual(allAre(failed('timeout'), 'failed'));
  expect(hanging!.tookMs).toBeGreaterThanOrEqual(990);
  for (const facts of [first, third]) {
    expect(facts).toMatchObject(right);
    expect(facts!.tookMs).toBeLessThan(hanging!.tookMs);
  }
});

test('at the deadline what is unanswered failed, and what was answered counts', async () => {
  const far = 'far.platform.test';
  inspect.dns.setZone({ ...rightZone, [target]: { CNAME: [far] }, [far]: { A: [address] } });
  inspect.dns.setFaults({
    [target]: { drop: true, types: ['CNAME'] },
    'customer.test': { delayMs: 60_000, types: ['CAA'] },
  });
  const facts = await inspect.one(host, { deadlineMs: 400 });
  expect(facts).toMatchObject({
    cname: right.cname,
    chain: { names: [target], end: 'failed' },
    txt: right.txt,
    caa: [
      { name: host, answer: { kind: 'none' } },
      { name: 'customer.test', answer: failed('timeout') },
    ],
  });
  expect(facts.tookMs).toBeGreaterThanOrEqual(390);
  expect(facts.tookMs).toBeLessThan(2_000);
});

test('after quick answers a slow one has its full time', async () => {
  const names = ['b', 'c', 'd', 'e', 'f'].map((label) => `${label}.customer.test`);
  const hops = [host, ...names].map(
    (name, at) => [name, { CNAME: [names[at] ?? target] }] as const,
  );
  inspect.dns.setZone({ ...rightZone, ...Object.fromEntries(hops) });
  inspect.dns.setFaults({ [names.at(-1)!]: { delayMs: 1_300, types: ['CNAME'] } });
  const { chain } = await inspect.one(host);
  expect(chain).toEqual({ names: [...names, target], end: 'reached' });
  expect(timesAsked(inspect.dns, names.at(-1)!, 'CNAME')).toBe(1);
});

test('two hundred hosts at once are all right, with a bounded number of sockets that are closed', async () => {
  const wildcard = { '*.customer.test': { CNAME: [target] } };
  inspect.dns.setZone({ ...rightZone, ...wildcard });
  const before = openFiles();
  const verifier = new NodeDnsVerifier({
    servers: inspect.dns.servers,
    clock: new SystemClock(),
    randomLabel: () => 'made-up',
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

test('questions that were cut off leave no socket behind', async () => {
  const before = openFiles();
  inspect.dns.setFaults({ '*': { drop: true } });
  await inspect.all(host, { deadlineMs: 50 });
  await until('all sockets are closed', () => openFiles() <= before);
});

test('questions that turned out not to matter are given up', async () => {
  const before = openFiles();
  inspect.dns.setZone({ [host]: { CAA: [{ tag: 'issue', value: 'ca.test' }] } });
  inspect.dns.setFaults({ 'customer.test': { drop: true }, test: { drop: true } });
  const { tookMs } = await inspect.one(host);
  expect(tookMs).toBeLessThan(2_000);
  expect(timesAsked(inspect.dns, 'customer.test', 'CAA')).toBe(1);
  await until('all sockets are closed', () => openFiles() <= before, 1_000);
});
