import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import SqliteDatabase from 'better-sqlite3';
import type { TestDatabase } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import type { ProcessName, SimulatedProcess } from './fleet.ts';
import { allLaws } from './laws.ts';
import { type Facts, type Law, type Seen, Stored } from './laws/law.ts';
import { Past } from './laws/past.ts';
import { readPlantedLives } from './plants/plant.ts';
import { DnsZones } from './world/dns-zones.ts';
import type { Actor } from './world/time.ts';
import { service } from './world/world.ts';
import { dayMs, hourMs, minuteMs } from './world/durations.ts';

const begin = Date.UTC(2027, 0, 1);
const host = 'www.north.test';

let database: TestDatabase;
let connection: SqliteDatabase.Database;

beforeAll(async () => {
  database = await migratedDatabase('sqlite');
  connection = new SqliteDatabase(database.url.replace('sqlite:', ''));
  connection.pragma('foreign_keys = OFF');
});

afterAll(async () => {
  connection.close();
  await database.drop();
});

type Row = Readonly<Record<string, string | number | null>>;

/** Required columns that a test does not set are empty or 0. */
const put = (table: string, row: Row): void => {
  const columns = connection.pragma(`table_info(${table})`) as readonly {
    readonly name: string;
    readonly type: string;
    readonly notnull: number;
    readonly pk: number;
  }[];
  const full: Record<string, string | number | null> = { ...row };
  for (const { name, type, notnull, pk } of columns) {
    if (name in full || notnull === 0 || (pk === 1 && /int/i.test(type))) continue;
    full[name] = /int/i.test(type) ? 0 : '';
  }
  const names = Object.keys(full);
  connection
    .prepare(`insert into ${table} (${names.join()}) values (${names.map(() => '?').join()})`)
    .run(...Object.values(full));
};

const domain = (row: Row, details: object = {}): void => {
  const id = String(row['id'] ?? 'dom_1');
  const dueAt = row['state'] === 'removed' ? null : begin + hourMs;
  put('domains', {
    id,
    account_id: 'acc_1',
    project_id: 'prj_1',
    host,
    token: id,
    state: 'live',
    due_at: dueAt,
    details: JSON.stringify({ registrableDomain: 'north.test', isApex: false, ...details }),
    ...row,
  });
};

const deletedProject = (): void => {
  connection.exec('delete from accounts');
  put('accounts', { id: 'acc_1' });
  put('projects', { id: 'prj_1', account_id: 'acc_1', slug: 'north', deleted_at: begin });
};

const wellWorld = () => {
  const time: { now: number; actor?: Actor } = { now: begin };
  const zones = new DnsZones(['test', 'example']);
  zones.register('north.test');
  zones.register(service.zone);
  const authority = () => ({
    over: [] as object[],
    orders: [] as object[],
    granted: [] as object[],
    weather: { repeats: 0 },
    rejected: new Set<string>(),
  });
  const past = new Past(() => time.now, zones);
  const fleet = new Map<ProcessName, SimulatedProcess>();
  for (const name of ['api', 'worker-1', 'worker-2', 'edge', 'dns'] as const) past.started(name);
  const north = { name: 'north', accountId: 'acc_1', project: { id: 'prj_1' } };
  const shops = new Map([['north', north]]);
  const world = {
    dns: { zones },
    authorities: { one: authority(), two: authority() },
    receivers: { received: [] as object[], faults: [] as object[] },
    mail: { taken: [] as object[] },
  };
  const owners = {
    acknowledged: [] as object[],
    bursts: [] as object[],
    faults: [] as object[],
    shops,
  };
  const stored = new Stored(() => connection, { as: (_actor, work) => work() });
  const seen = { time, world, owners, fleet, past, stored } as unknown as Seen;
  return { time, zones, past, fleet, world, owners, seen };
};
type WellWorld = ReturnType<typeof wellWorld>;

/** Breaks a law that no planted life breaks, and checks it. */
type Plant = (law: Law, its: WellWorld) => Facts | undefined;

const plants: Readonly<Record<string, Plant>> = {
  'A name has one holder': (law, { seen }) => {
    domain({ id: 'dom_1' });
    domain({ id: 'dom_2', account_id: 'acc_2', project_id: 'prj_2', state: 'verified' });
    return law.afterCommit?.(seen);
  },
  'A name that another account has proven is taken only with the record that proves it': (
    law,
    { seen },
  ) => {
    domain({ id: 'dom_1', host: '*.north.test' });
    law.afterCommit?.(seen);
    domain({ id: 'dom_2', account_id: 'acc_2', project_id: 'prj_2', state: 'verified' });
    return law.afterCommit?.(seen);
  },
  'Each state of a domain has its event': (law, { seen }) => {
    domain({ id: 'dom_1', state: 'added' });
    const details = JSON.stringify({ domainId: 'dom_1' });
    put('events', { id: 'evt_1', type: 'domain_removed', details });
    return law.eachHour?.(seen);
  },
  'An account gets no more new certificates in an hour than its budget has': (
    law,
    { seen, world },
  ) => {
    domain({ state: 'verified' }, { certificate: { kind: 'wanted', work: { step: 'ordered' } } });
    const orders = (count: number) => Array.from({ length: count }, () => ({ names: [host] }));
    world.authorities.one.orders.push(...orders(10));
    expect(law.afterStep?.(seen)).toBeUndefined();
    world.authorities.one.orders.push(...orders(1));
    return law.afterStep?.(seen);
  },
  'Nothing of a deleted project is served': (law, { seen, time, fleet, past }) => {
    const routes = { find: () => ({ name: host, projectId: 'prj_1' }) };
    fleet.set('edge', { container: { get: () => routes } } as unknown as SimulatedProcess);
    deletedProject();
    past.followProjects(['prj_1']);
    law.afterCommit?.(seen);
    time.now += 1000;
    expect(law.afterStep?.(seen)).toBeUndefined();
    time.now += 1001;
    expect(law.afterStep?.(seen)).toMatchObject({ project: 'prj_1' });
    time.now += hourMs;
    return law.eachHour?.(seen);
  },
  'A restored project is served again once its DNS leads here': (
    law,
    { seen, time, zones, fleet, past },
  ) => {
    fleet.set('edge', {
      actor: { clockAheadMs: 0 },
      container: { get: () => ({ nameFor: () => undefined }) },
    } as unknown as SimulatedProcess);
    zones.set(host, 'A', [service.address], 300);
    past.look([host]);
    domain({});
    past.followProjects(['prj_1']);
    time.now += 3 * dayMs;
    expect(law.eachHour?.(seen)).toBeUndefined();
    past.followProjects([]);
    time.now += dayMs;
    expect(law.eachHour?.(seen)).toBeUndefined();
    time.now += dayMs;
    return law.eachHour?.(seen);
  },
  'A deleted project or account is removed after 7 days with all its rows, and its domains are removed for that reason':
    (law, { seen, time }) => {
      const end = (ms: number) => {
        deletedProject();
        time.now = begin + ms;
        law.afterCommit?.(seen);
        connection.exec('delete from projects');
        return law.afterCommit?.(seen);
      };
      expect(end(6 * dayMs)).toMatchObject({ why: 'it ended too soon' });
      const told = { account_id: 'acc_1', occurred_at: begin };
      const of = { projectId: 'prj_1', domainId: 'dom_1', host };
      put('events', { ...told, id: 'evt_1', type: 'domain_added', details: JSON.stringify(of) });
      expect(end(8 * dayMs)).toMatchObject({ host });
      const removal = (reason: string) => ({
        ...told,
        type: 'domain_removed',
        occurred_at: begin + 8 * dayMs,
        details: JSON.stringify({ ...of, reason }),
      });
      put('events', { ...removal('owner'), id: 'evt_2' });
      expect(end(8 * dayMs)).toMatchObject({ reason: 'owner' });
      connection.exec(`delete from events where id = 'evt_2'`);
      put('events', { ...removal('project_deleted'), id: 'evt_3' });
      expect(end(8 * dayMs)).toBeUndefined();
      put('deploys', { id: 'dep_1', project_id: 'prj_1' });
      expect(end(8 * dayMs)).toMatchObject({ table: 'deploys' });
      deletedProject();
      return law.eachHour?.(seen);
    },
  'Every stored row is still used': (law, { seen, time }) => {
    put('certificate_orders', { subject: 'domain:dom_1:1', host });
    time.now += dayMs;
    return law.atTheEnd?.(seen);
  },
  'Each event that concerns owners is announced to its account in each chosen way': (
    law,
    { seen },
  ) => {
    put('events', { id: 'evt_1', account_id: 'acc_1', type: 'domain_live', details: '{}' });
    put('accounts', { id: 'acc_1' });
    put('notices', { event_id: 'evt_1', account_id: 'acc_2' });
    law.afterCommit?.(seen);
    return law.atTheEnd?.(seen);
  },
  'No mail goes to a person of another account': (law, { seen, world }) => {
    put('people', { id: 'per_1', account_id: 'acc_1', email: 'owner@north.test' });
    put('people', { id: 'per_3', account_id: 'acc_3', email: 'owner@north.test' });
    put('projects', { id: 'prj_2', account_id: 'acc_2', slug: 'south' });
    put('projects', { id: 'prj_3', account_id: 'acc_3', slug: 'west' });
    const toldOf = (project: string) => {
      const told = [{ kind: 'domain.live', about: { project } }];
      world.mail.taken.push({ to: 'owner@north.test', told });
      return law.afterStep?.(seen);
    };
    expect(toldOf('west')).toBeUndefined();
    return toldOf('south');
  },
  'Each webhook delivery that is marked as delivered reached its receiver': (law, { seen }) => {
    put('webhooks', {
      id: 'hook_1',
      account_id: 'acc_1',
      address: 'https://hooks.north.test/store',
    });
    put('webhook_deliveries', {
      id: 'dlv_1',
      webhook_id: 'hook_1',
      message_id: 'evt_1',
      state: 'delivered',
      begun_at: begin,
    });
    return law.atTheEnd?.(seen);
  },
  'Every acknowledged write is stored': (law, { seen, owners }) => {
    put('accounts', { id: 'acc_1' });
    put('projects', { id: 'prj_1', account_id: 'acc_1', slug: 'north' });
    owners.acknowledged.push({ kind: 'domain', shop: 'north', id: 'dom_9', host });
    expect(law.eachHour?.(seen)).toMatchObject({ what: 'domain' });
    owners.acknowledged.push({ kind: 'deletion', shop: 'north', id: 'prj_1' });
    return law.eachHour?.(seen);
  },
  'Every correct domain goes live soon after the weather clears': (
    law,
    { seen, time, zones, past },
  ) => {
    domain({ token: 'token', state: 'verified' }, { certificate: { work: { step: 'planned' } } });
    zones.set(`token.${service.platformHost}`, 'A', [service.address], 300);
    zones.set(host, 'CNAME', [`token.${service.platformHost}`], 300);
    zones.set(`_animal-store-challenge.${host}`, 'TXT', ['animal-store-verify=token'], 300);
    zones.set(`_acme-challenge.${host}`, 'CNAME', [`token.${service.acmeDnsZone}`], 300);
    past.look([host]);
    time.now += 30 * dayMs;
    return law.atTheEnd?.(seen);
  },
  'Edges serve each live name, with a certificate that is valid where its DNS is right': (
    law,
    { seen, fleet },
  ) => {
    const container = { get: () => ({ nameFor: () => undefined }) };
    fleet.set('edge', { container } as unknown as SimulatedProcess);
    domain({});
    return law.atTheEnd?.(seen);
  },
  'Every failure is explained by the weather': (law) =>
    law.onLog?.('worker-1', 'job failed: TypeError: x is not a function'),
};

beforeEach(() => {
  const tables = connection
    .prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`)
    .all() as readonly { readonly name: string }[];
  for (const { name } of tables) connection.prepare(`delete from ${name}`).run();
});

test.each(Object.entries(plants))('a violation of this law is reported: %s', (name, plant) => {
  const law = allLaws().find((one) => one.name === name);
  expect(law && plant(law, wellWorld())).toEqual(expect.any(Object));
});

test('each law is broken by a case here or by a planted life', async () => {
  const lives = await readPlantedLives();
  const broken = new Set([...Object.keys(plants), ...lives.map(({ law }) => law)]);
  expect(allLaws().filter(({ name }) => !broken.has(name))).toEqual([]);
});

test.each(allLaws().map((law) => [law.name, law] as const))(
  'an empty store does not break this law: %s',
  (_name, law) => {
    const { seen } = wellWorld();
    for (const ask of [law.afterCommit, law.afterStep, law.eachHour, law.atTheEnd])
      expect(ask?.(seen)).toBeUndefined();
  },
);

test('a ban explains that no request is answered, by the clock of the process that stored it', () => {
  const { seen, time, fleet, owners } = wellWorld();
  const law = allLaws().find(({ name }) => name.startsWith('Of N + k requests'));
  const clockAheadMs = -3 * minuteMs;
  fleet.set('api', { actor: { clockAheadMs } } as unknown as SimulatedProcess);
  put('accounts', { id: 'acc_1', plan: 'free' });
  time.now += hourMs;
  const isBroken = (bannedForMs: number): boolean => {
    connection.exec('delete from api_keys');
    const until = time.now + clockAheadMs + bannedForMs;
    put('api_keys', { id: 'key_1', account_id: 'acc_1', ban_until: until });
    owners.bursts.push({ shop: 'north', at: time.now, answers: [{ status: 429 }] });
    return law?.afterStep?.(seen) !== undefined;
  };
  expect([minuteMs, 0].map(isBroken)).toEqual([false, true]);
});

test('a claim may end early if nothing is due on its domain any more, as while the project is deleted', () => {
  const { seen, time } = wellWorld();
  const law = allLaws().find(({ name }) => name.startsWith('Nobody takes what a process'));
  const commit = (by: string, row: Row) => {
    time.actor = { name: by } as Actor;
    connection.exec('delete from domains');
    domain(row);
    return law?.afterCommit?.(seen);
  };
  const claimed = { claim: 'of worker-2', claimed_until: begin + minuteMs };
  commit('worker-2', claimed);
  expect(commit('worker-1', { due_at: null })).toBeUndefined();
  commit('worker-2', claimed);
  expect(commit('worker-1', {})).toMatchObject({ by: 'worker-1', holder: 'worker-2' });
});

test('a wildcard needs a valid certificate only while its challenge is delegated to us', () => {
  const { seen, time, zones, past, fleet } = wellWorld();
  const law = allLaws().find(({ name }) => name.startsWith('Edges serve each live name'));
  const routes = { nameFor: () => '*.north.test', certificate: () => undefined };
  fleet.set('edge', { container: { get: () => routes } } as unknown as SimulatedProcess);
  domain({ host: '*.north.test', token: 'token' });
  zones.set('some.north.test', 'A', [service.address], 300);
  const isBroken = (label: string): boolean => {
    const target = `${label}.${service.acmeDnsZone}`;
    zones.set('_acme-challenge.north.test', 'CNAME', [target], 300);
    past.look(['*.north.test']);
    time.now += 30 * dayMs;
    return law?.atTheEnd?.(seen) !== undefined;
  };
  expect(['another', 'token'].map(isBroken)).toEqual([false, true]);
});

test('an event for which a webhook gets no message is reported', () => {
  const { seen, time } = wellWorld();
  const law = allLaws().find(({ name }) => name.startsWith('Each event that concerns owners'));
  const told = { id: 'evt_1', account_id: 'acc_1' };
  put('accounts', { id: 'acc_1' });
  put('webhooks', { id: 'hook_1', account_id: 'acc_1', state: 'on', created_at: begin - 1 });
  put('events', { ...told, type: 'domain_live', details: '{}', occurred_at: begin });
  put('notices', { event_id: 'evt_1', account_id: 'acc_1' });
  law?.afterCommit?.(seen);
  time.now += dayMs;
  expect(law?.eachHour?.(seen)).toMatchObject({ 'not sent to webhook': 'hook_1' });
});

test.each([
  ['deliveries', { event_id: 'evt_1', subscriber: 'notices', parked: 1, due_at: begin }],
  ['mails', { id: 'mail_1', due_at: begin - dayMs, send_at: begin - dayMs }],
  [
    'webhook_deliveries',
    { id: 'dlv_1', state: 'waiting', next_at: begin - dayMs, begun_at: begin },
  ],
  ['dns_challenges', { label: 'label', expires_at: begin - 3 * dayMs }],
  ['sessions', { id: 'ses_1', ends_at: begin - 3 * dayMs }],
  ['routes', { name: host, project_id: 'prj_1' }],
  ['certificates', { host }],
] as const)('a leftover row of %s is reported', (table, row) => {
  const { seen } = wellWorld();
  const law = allLaws().find(({ name }) => name.startsWith('Every stored row'));
  put(table, row);
  expect(law?.atTheEnd?.(seen)).toMatchObject({ table });
});
