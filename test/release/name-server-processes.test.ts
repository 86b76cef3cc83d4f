import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { zoneName } from '../support/nameserver/known-zone.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { processesOf } from '../support/service/several-processes.ts';
import { until } from '../support/until.ts';

let home: Home;
let service: Service;
let port: number;
beforeAll(async () => {
  home = await newHome(await migratedDatabase('sqlite'));
  port = await findFreePort();
  const ofZone = { ACME_DNS_ZONE: zoneName, DNS_PORT: String(port) };
  service = await home.start({ ROLES: 'dns', PROCESSES: '2', ...ofZone });
});
afterAll(() => home.remove());

/** A client without a limit. It repeats a truncated query over TCP. */
const resolverAt = (at: number): Resolver => {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${at}`]);
  return resolver;
};
const textsAt = async (at: number, name: string): Promise<readonly string[] | string> =>
  resolverAt(at)
    .resolveTxt(name)
    .then(
      (records) => records.map((parts) => parts.join('')).sort(),
      (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'unknown',
    );

describe('several processes on one port', () => {
  const figures = async (): Promise<string> => (await fetch(`${service.origin}/metrics`)).text();
  const total = async (name: string): Promise<number> => {
    const lines = [...(await figures()).matchAll(new RegExp(`^${name}\\{?.*? (\\d+)$`, 'gm'))];
    return lines.reduce((sum, [, value]) => sum + Number(value), 0);
  };

  test('give one network 20 answers a second together, and truncated ones beyond; all come over TCP', async () => {
    const limited = await until('a hundred are asked within a second', async () => {
      const before = await total('dns_limited_answers_total');
      const began = performance.now();
      const asked = await Promise.all(
        Array.from({ length: 100 }, () => resolverAt(port).resolveSoa(zoneName)),
      );
      const isInTime = performance.now() - began < 1_000;
      const names = new Set(asked.map(({ nsname }) => nsname));
      expect(names).toEqual(new Set(['acme-ns.store.example']));
      return isInTime && (await total('dns_limited_answers_total')) - before;
    });
    expect(limited).toBeGreaterThanOrEqual(60);
    expect(limited).toBeLessThanOrEqual(100);
  });

  test('are replaced without leaving a query unanswered', async () => {
    const isOver = new AbortController();
    const answers: (readonly string[] | string)[] = [];
    const asking = (async () => {
      while (!isOver.signal.aborted) answers.push(await textsAt(port, zoneName));
    })();
    const pids = () => processesOf(service).map(({ pid }) => pid);
    const first = pids();
    service.signal('SIGHUP');
    await until('both are replaced', () => {
      const now = pids();
      return now.length === 2 && now.every((pid) => !first.includes(pid));
    });
    isOver.abort();
    await asking;
    expect(new Set(answers)).toEqual(new Set(['ENODATA']));
  });
});
