import { spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Resolver } from 'node:dns/promises';
import { until } from '../until.ts';
import { findFreePort, startGuard } from '../servers/debian-server.ts';
import { findPrometheus, rulesFile } from './monitoring-files.ts';
import { openDomainLab, platformHost, type DomainLab } from '../../lab/domain-lab.ts';
import { json, type Shop } from '../../lab/shop.ts';
import { migratedDatabase } from '../servers/migrated-database.ts';
import { connectAsAdmin, type MysqlAdmin } from '../servers/mysql-admin.ts';
import { MailServer } from '../servers/mail-server.ts';
import { ended } from '../servers/server-process.ts';
import { startObjectStore, type ObjectStore } from '../servers/object-store.ts';
import { startTcpProxy, type TcpProxy } from '../servers/tcp-proxy.ts';
import type { Service } from './service-process.ts';

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

interface Prometheus {
  query(expression: string): Promise<readonly Sample[]>;
  stop(): Promise<void>;
}

/** @param targets as `host:port` @param rules a file of rules */
const startPrometheus = async (targets: readonly string[], rules: string): Promise<Prometheus> => {
  const { prometheus } = await findPrometheus();
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const guard = startGuard(folder);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'animal-store', static_configs: [{ targets }] }],
  };
  // JSON is YAML too.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const place = `127.0.0.1:${String(await findFreePort())}`;
  const child = spawn(prometheus, [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${place}`,
  ]);
  guard.write(`${String(child.pid ?? '')}\n`);
  const log = text(child.stderr);
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended:\n${await log}`);
    return fetch(`http://${place}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await until('Prometheus is ready', isReady);
  return {
    query: async (expression) => {
      const body = new URLSearchParams({ query: expression });
      const answer = await fetch(`http://${place}/api/v1/query`, { method: 'POST', body });
      const told = (await answer.json()) as {
        readonly error?: string;
        readonly data?: { readonly result: readonly Sample[] };
      };
      if (!told.data) throw new Error(`${expression}: ${told.error ?? 'no answer'}`);
      return told.data.result;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended(child);
      guard.end('\n');
    },
  };
};

interface Ways {
  readonly redis: TcpProxy;
  readonly apiDatabase: TcpProxy;
  readonly workerDatabase: TcpProxy;
  readonly otherDatabase: TcpProxy;
}

/** A fleet on MySQL, Redis, an object store and an ACME authority, with a Prometheus that watches it. */
export interface MonitoredFleet {
  readonly lab: DomainLab;
  readonly shop: Shop;
  readonly store: ObjectStore;
  readonly ways: Ways;
  readonly prometheus: Prometheus;
  readonly admin: MysqlAdmin;
  readonly databaseUrl: string;
  /** `api` has two processes. `other` is a second edge with a separate data folder, and a name server. */
  readonly services: Readonly<Record<'api' | 'worker' | 'edge' | 'other', Service>>;
  askForChallenge(): Promise<unknown>;
  ask(times: number): Promise<readonly number[]>;
  visit(edge?: 'other'): Promise<unknown>;
  close(): Promise<void>;
}

const openWays = async (databaseUrl: string): Promise<Ways> => {
  const [redis, apiDatabase, workerDatabase, otherDatabase] = await Promise.all([
    startTcpProxy(process.env['TEST_REDIS_URL'] ?? ''),
    startTcpProxy(databaseUrl),
    startTcpProxy(databaseUrl),
    startTcpProxy(databaseUrl),
  ]);
  return { redis, apiDatabase, workerDatabase, otherDatabase };
};

const dnsZone = 'acme.store.test';
const nowhere = 'tcp://127.0.0.1:1';

/** Makes the connection lead to a port where nobody listens. @returns a function that repairs it */
export const cutWay = (way: TcpProxy, url: string): (() => void) => {
  way.leadTo(nowhere);
  way.cut();
  return () => {
    way.leadTo(url);
  };
};

export const startMonitoredFleet = async (): Promise<MonitoredFleet> => {
  const database = await migratedDatabase('mysql');
  const [store, ways, mails] = await Promise.all([
    startObjectStore(),
    openWays(database.url),
    MailServer.start(),
  ]);
  const redis = { REDIS_URL: process.env['TEST_REDIS_URL'] ?? '' };
  const mail = { SMTP_URL: mails.url, MAIL_FROM: 'store@zoo.example' };
  const lab = await openDomainLab(database, { ...store.settings, ...redis, ...mail });
  const shop = await lab.openShop('zoo', 'enterprise');
  const [otherHttps, dns] = [await findFreePort(), await findFreePort()];
  lab.delegate(dnsZone, dns);
  lab.zone.set(`_acme-challenge.${platformHost}`, { CNAME: [`platform.${dnsZone}`] });
  const { services, targets } = await startServices(lab, ways, { otherHttps, dns });
  const resolver = new Resolver({ timeout: 3_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${dns}`]);
  const prometheus = await startPrometheus(targets, rulesFile);
  const keyWish = ['key', 'create', '--account', shop.accountId, '--name', 'load'];
  const { key } = await json<{ key: { secret: string } }>(lab.run, keyWish);
  const headers = { Authorization: `Bearer ${key.secret}` };
  const admin = await connectAsAdmin(database.url);
  const statusOf = async () => {
    const answer = await fetch(`${services.api.origin}/v1/pets`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  return {
    lab,
    shop,
    store,
    ways,
    prometheus,
    admin,
    services,
    databaseUrl: database.url,
    ask: (times) => Promise.all(Array.from({ length: times }, statusOf)),
    visit: async (edge) => {
      const visitor = await lab.visitor(edge === 'other' ? otherHttps : undefined);
      return visitor.get(`${shop.slug}.${platformHost}`).catch((error: unknown) => error);
    },
    askForChallenge: () =>
      resolver.resolveTxt(`t-${'0'.repeat(32)}.${dnsZone}`).catch((error: unknown) => error),
    close: async () => {
      admin.close();
      await prometheus.stop();
      await lab.close();
      await Promise.all(Object.values(ways).map((way: TcpProxy) => way.stop()));
      await Promise.all([store.stop(), mails.stop()]);
    },
  };
};

interface Ports {
  readonly otherHttps: number;
  readonly dns: number;
}

const startServices = async (lab: DomainLab, ways: Ways, { otherHttps, dns }: Ports) => {
  const targets: string[] = [];
  const start = async (settings: Readonly<Record<string, string>>): Promise<Service> => {
    const port = String(await findFreePort());
    targets.push(`127.0.0.1:${port}`);
    return lab.start({ PORT: port, ...settings });
  };
  const [api, worker, edge, other] = await Promise.all([
    start({
      ROLES: 'api,dashboard',
      PROCESSES: '2',
      DATABASE_URL: ways.apiDatabase.url,
      REDIS_URL: ways.redis.url,
    }),
    start({ ROLES: 'worker', DATABASE_URL: ways.workerDatabase.url, ACME_DNS_ZONE: dnsZone }),
    start({ ROLES: 'edge' }),
    start({
      ROLES: 'edge,dns',
      DATABASE_URL: ways.otherDatabase.url,
      ACME_DNS_ZONE: dnsZone,
      DNS_PORT: String(dns),
      EDGE_HTTP_PORT: '0',
      EDGE_HTTPS_PORT: String(otherHttps),
      DATA_DIR: join(lab.folder, 'other'),
    }),
  ]);
  return { services: { api, worker, edge, other }, targets };
};
