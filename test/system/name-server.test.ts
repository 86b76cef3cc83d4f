import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findServer, libraryEnvironment, findFreePort } from '../support/servers/debian-server.ts';
import { neverMs, until } from '../support/until.ts';
import {
  KyselyCertificateOrders,
  KyselyDnsChallenges,
} from '../../src/adapters/kysely/sites/kysely-certificate-orders.ts';
import type { Database } from '../../src/adapters/kysely/database.ts';
import { firstValue, secondValue, tokenOf, zoneName } from '../support/nameserver/known-zone.ts';
import { emptyDatabase, openDatabase } from '../support/servers/databases.ts';
import { servedZone, startUnbound, type Unbound } from '../support/servers/unbound.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { processesOf } from '../support/service/several-processes.ts';
import { testSealer } from '../support/stores.ts';
import { SystemClock } from '../../src/adapters/system/system-ports.ts';

const libraries = [
  ...['bind9-dnsutils', 'bind9-libs', 'libcom-err2', 'libfstrm0', 'libgssapi-krb5-2'],
  ...[
    'libicu72|libicu76',
    'libidn2-0',
    'libjemalloc2',
    'libjson-c5',
    'libk5crypto3',
    'libkeyutils1',
  ],
  ...[
    'libkrb5-3',
    'libkrb5support0',
    'liblmdb0',
    'libmaxminddb0',
    'libnghttp2-14',
    'libprotobuf-c1',
  ],
  ...['libunistring2|libunistring5', 'libuv1|libuv1t64', 'libxml2'],
];

interface DnsClients {
  dig(...args: readonly string[]): Promise<string>;
  delv(...args: readonly string[]): Promise<string>;
}

const dnsClients = async (port: number): Promise<DnsClients> => {
  const { executable, root } = await findServer('dig', libraries);
  const env = { ...process.env, ...libraryEnvironment(root) };
  const run = async (name: string, args: readonly string[]): Promise<string> => {
    const program = join(executable, '..', name);
    const all = ['@127.0.0.1', '-p', String(port), ...args];
    const { stdout, stderr } = await promisify(execFile)(program, all, { env, timeout: neverMs });
    return stdout + stderr;
  };
  return { dig: (...args) => run('dig', args), delv: (...args) => run('delv', args) };
};

let home: Home;
let database: Database;
let service: Service;
let port: number;
let clients: DnsClients;
beforeAll(async () => {
  const storage = await emptyDatabase('sqlite');
  home = await newHome(storage);
  port = await findFreePort();
  const settings = {
    ROLES: 'dns',
    PROCESSES: '2',
    ACME_DNS_ZONE: zoneName,
    DNS_PORT: String(port),
  };
  [service, clients] = await Promise.all([home.start(settings), dnsClients(port)]);
  database = openDatabase(storage.url);
});
afterAll(async () => {
  await database.close();
  await home.remove();
});

let begun = 0;
/** Publishes like a worker in another process. @returns a function that ends the challenge */
const store = async (label: string, value: string): Promise<() => Promise<void>> => {
  const orders = new KyselyCertificateOrders(database, testSealer);
  const subject = `platform:${(begun += 1)}`;
  await orders.begin({ authority: '', subject, host: 'shop.example', privateKey: 'a key' });
  const expiresAt = new Date(new SystemClock().now().getTime() + 3_600_000);
  await new KyselyDnsChallenges(database).publish(subject, { label, value, expiresAt });
  return () => orders.forget(subject);
};

/** A client without a limit. It repeats a truncated query over TCP. */
const resolverAt = (at: number): Resolver => {
  const resolver = new Resolver({ timeout: 3_000, tries: 4 });
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

describe('dig and delv', () => {
  test('get both values of a name, over UDP and TCP, as soon as they are stored', async () => {
    const name = `${tokenOf(1)}.${zoneName}`;
    expect(await clients.dig(name, 'TXT')).toContain('status: NXDOMAIN');
    const ends = [await store(tokenOf(1), firstValue), await store(tokenOf(1), secondValue)];
    for (const way of ['+notcp', '+tcp']) {
      const answer = await clients.dig(name, 'TXT', way, '+norec');
      expect(answer).toMatch(
        /status: NOERROR.*\n;; flags: qr aa; QUERY: 1, ANSWER: 2, AUTHORITY: 0/,
      );
      for (const value of [firstValue, secondValue])
        expect(answer).toContain(`${name}. 0 IN TXT\t"${value}"`);
      expect(answer).not.toContain('Warning');
    }
    for (const end of ends) await end();
    expect(await clients.dig(name, 'TXT')).toContain('status: NXDOMAIN');
  });

  test('get the apex records that docs/certificates-and-dns.md shows', async () => {
    expect(await clients.dig(zoneName, 'SOA', '+short')).toBe(
      'acme-ns.store.example. hostmaster.store.example. 1 3600 600 604800 0\n',
    );
    expect(await clients.dig(zoneName, 'NS', '+tcp', '+short')).toBe('acme-ns.store.example.\n');
    expect(await clients.delv('-i', zoneName, 'NS')).toContain('acme-ns.store.example.');
  });
});

describe('Unbound in front of the name server', () => {
  let unbound: Unbound;
  beforeAll(async () => {
    unbound = await startUnbound({ zones: [servedZone(zoneName, port)] });
  });
  afterAll(() => unbound.stop());

  test('caches neither a value nor its absence', async () => {
    const name = `${tokenOf(3)}.${zoneName}`;
    expect(await textsAt(unbound.port, name)).toBe('ENOTFOUND');
    const end = await store(tokenOf(3), firstValue);
    expect(await textsAt(unbound.port, name)).toEqual([firstValue]);
    const endSecond = await store(tokenOf(3), secondValue);
    expect(await textsAt(unbound.port, name)).toEqual([secondValue, firstValue].sort());
    await end();
    expect(await textsAt(unbound.port, name)).toEqual([secondValue]);
    await endSecond();
    expect(await textsAt(unbound.port, name)).toBe('ENOTFOUND');
  });
});

describe('several processes on one port', () => {
  test('continue while one of them dies', async () => {
    const [one] = processesOf(service);
    process.kill(one?.pid ?? 0, 'SIGKILL');
    for (let n = 0; n < 20; n++) expect(await textsAt(port, zoneName)).toBe('ENODATA');
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

  test('become ready, and stop cleanly', async () => {
    const ready = await fetch(`${service.origin}/readyz`);
    expect(ready.status).toBe(200);
    expect(service.stdout()).toContain(
      `The zone ${zoneName} at 127.0.0.1:${port}, over UDP and TCP`,
    );
    expect(
      (
        await home.run(['doctor'], {
          ROLES: 'dns',
          ACME_DNS_ZONE: zoneName,
          DNS_PORT: String(port),
        })
      ).stdout,
    ).toMatch(/DNS_PORT: 127\.0\.0\.1:\d+ is served by Animal Store\./);
    expect((await service.end('SIGTERM')).code).toBe(0);
  });
});
