import pino from 'pino';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { RouteTable } from '../../src/adapters/edge/route-table.ts';
import type { Certificate } from '../../src/domains/domain/certificates/renewal.ts';
import { EdgeRecords, type EdgeChanges } from '../../src/domains/ports.ts';
import { now } from '../support/accounts.ts';
import { certificateFor } from '../support/sites/sites.ts';
import type { Stores } from '../support/stores.ts';
import { storesOfTests } from '../support/stores-of-tests.ts';
import { until } from '../support/until.ts';

class Records extends EdgeRecords {
  stores: Stores;
  isAway = false;
  gate: Promise<unknown> = Promise.resolve();
  readonly asked: bigint[] = [];

  constructor(stores: Stores) {
    super();
    this.stores = stores;
  }

  override async changesSince(revision: bigint): Promise<EdgeChanges> {
    if (this.isAway) throw new Error('away');
    const changes = await this.stores.edgeRecords.changesSince(revision);
    this.asked.push(revision);
    await this.gate;
    return changes;
  }

  override names(): Promise<readonly string[]> {
    return this.stores.edgeRecords.names();
  }
}

const open = storesOfTests();
let records: Records;
let table: RouteTable;
let removed: string[];
let moved: string[];
let changed: string[];
beforeEach(async () => {
  records = new Records(await open());
  table = new RouteTable(records, { host: 'sites.test' }, pino({ level: 'silent' }));
  removed = [];
  moved = [];
  changed = [];
  table.on('removed', (host) => removed.push(host));
  table.on('moved', (host) => moved.push(host));
  table.on('certificate', (host) => changed.push(host));
});

const route = (name: string, deployId = 'dep_1', projectId = `proj-${name}`): Promise<void> =>
  records.stores.edgeWriter.setRoute({ name, projectId, kind: 'site', deployId });
const removeRoute = (name: string) => records.stores.edgeWriter.removeRoute(name, now);
const removeCertificate = (name: string) => records.stores.edgeWriter.removeCertificate(name, now);
const setCertificate = (one: Certificate) => records.stores.edgeWriter.saveCertificate(one);

describe('the routes of an edge', () => {
  test('are found by host: a name without a dot is a subdomain of the platform host', async () => {
    await route('rex.test');
    await route('tom');
    await table.refresh();
    expect(table.find('rex.test')).toMatchObject({ deployId: 'dep_1' });
    expect(table.find('tom.sites.test')).toMatchObject({ deployId: 'dep_1' });
    expect(table.find('tom')).toBeUndefined();
    expect(table.size).toBe(2);
  });

  test('follow changes, and load only what changed', async () => {
    await route('rex.test');
    await route('tom');
    await table.refresh();
    await route('rex.test', 'dep_2');
    await removeRoute('tom');
    await table.refresh();
    expect(table.find('rex.test')).toMatchObject({ deployId: 'dep_2' });
    expect([table.find('tom.sites.test'), table.size]).toEqual([undefined, 1]);
    expect(removed).toEqual(['tom.sites.test']);
    expect(records.asked).toEqual([0n, 2n]);
    await table.refresh();
    expect(records.asked.at(-1)).toBe(4n);
    expect(removed).toEqual(['tom.sites.test']);
  });

  test('of another project replace the earlier ones', async () => {
    await route('rex.test');
    await table.refresh();
    await route('rex.test', 'dep_2');
    await table.refresh();
    expect(removed).toEqual([]);
    await removeRoute('rex.test');
    await route('rex.test', 'dep_3', 'proj_other');
    await table.refresh();
    expect([removed, moved]).toEqual([[], ['rex.test']]);
    expect(table.find('rex.test')).toMatchObject({ deployId: 'dep_3' });
  });

  test('start over when the database is restored from an older state', async () => {
    for (const name of ['gone.test', 'kept.test', 'moved.test']) await route(name);
    await table.refresh();
    records.stores = await open();
    await route('kept.test', 'dep_0');
    await route('moved.test', 'dep_0', 'proj_before');
    await table.refresh();
    expect(removed.toSorted()).toEqual(['gone.test', 'moved.test']);
    expect(table.find('kept.test')).toMatchObject({ deployId: 'dep_0' });
    expect(table.size).toBe(2);
    await route('new.test');
    await table.refresh();
    expect(table.size).toBe(3);
  });

  test('are loaded by a refresh that is requested during another one', async () => {
    const { promise: gate, resolve: release } = Promise.withResolvers<undefined>();
    records.gate = gate;
    const running = table.refresh();
    await until('it has read', () => records.asked.length === 1);
    await route('rex.test');
    const next = table.refresh();
    release(undefined);
    await next;
    expect(table.find('rex.test')).toMatchObject({ deployId: 'dep_1' });
    await running;
  });

  test('stay the same after a failed refresh, and the next one catches up', async () => {
    await route('rex.test');
    await table.refresh();
    records.isAway = true;
    await expect(table.refresh()).rejects.toThrow('away');
    expect(table.find('rex.test')).toBeDefined();
    records.isAway = false;
    await route('tom');
    await table.refresh();
    expect(table.size).toBe(2);
  });
});

describe('the routes of a wildcard', () => {
  test('apply to each covered name that has no route of its own', async () => {
    await route('*.shop.test', 'dep_wild', 'proj_owner');
    await route('blog.shop.test', 'dep_own', 'proj_other');
    await table.refresh();
    const found = (host: string) => table.find(host)?.projectId;
    expect(['a.shop.test', 'blog.shop.test'].map(found)).toEqual(['proj_owner', 'proj_other']);
    expect(['shop.test', 'a.b.shop.test', 'test', ''].map(found)).toEqual(Array(4).fill(undefined));
    const named = (host: string) => table.nameFor(host);
    expect(['a.shop.test', 'blog.shop.test', 'shop.test', '*.shop.test', ''].map(named)).toEqual([
      ...['*.shop.test', 'blog.shop.test'],
      ...[undefined, undefined, undefined],
    ]);
  });

  test('are reported as removed for a name that moves to another project, but not within the same project', async () => {
    await route('*.shop.test', 'dep_wild', 'proj_owner');
    await table.refresh();
    await route('blog.shop.test', 'dep_own', 'proj_other');
    await route('mine.shop.test', 'dep_own', 'proj_owner');
    await route('new.test');
    await table.refresh();
    expect(removed).toEqual(['blog.shop.test']);
    await removeRoute('*.shop.test');
    await table.refresh();
    expect(removed).toEqual(['blog.shop.test', '*.shop.test']);
  });

  test('are reported as removed even when the database is restored from an older state', async () => {
    await route('*.shop.test', 'dep_wild', 'proj_owner');
    for (let n = 0; n < 5; n++) await route('else.test', `dep_${n}`);
    await table.refresh();
    records.stores = await open();
    await route('*.shop.test', 'dep_wild', 'proj_owner');
    await route('blog.shop.test', 'dep_own', 'proj_other');
    await route('mine.shop.test', 'dep_own', 'proj_owner');
    await table.refresh();
    expect(removed.toSorted()).toEqual(['blog.shop.test', 'else.test']);
  });
});

describe('the certificates of an edge', () => {
  test('apply to hosts with a route, whichever arrives first', async () => {
    const [rex, tom] = [certificateFor('rex.test'), certificateFor('tom.sites.test')];
    await setCertificate(rex);
    await route('tom');
    await table.refresh();
    expect([table.certificate('rex.test'), table.certificate('tom.sites.test')]).toEqual([
      undefined,
      undefined,
    ]);
    await route('rex.test');
    await setCertificate(tom);
    await table.refresh();
    expect(table.certificate('rex.test')?.chain).toBe(rex.chain);
    expect(table.certificate('tom.sites.test')?.chain).toBe(tom.chain);
    await removeRoute('tom');
    await table.refresh();
    expect(table.certificate('tom.sites.test')).toBeUndefined();
  });

  test('are all reported as possibly changed when the database is restored from an older state', async () => {
    const hosts = ['*.sites.test', 'rex.test', 'tom.sites.test'];
    for (const host of hosts) await setCertificate(certificateFor(host));
    await table.refresh();
    changed.length = 0;
    records.stores = await open();
    const older = certificateFor('*.sites.test');
    await setCertificate(older);
    await table.refresh();
    expect(table.platformCertificate?.chain).toBe(older.chain);
    expect(changed.toSorted()).toEqual(hosts);
  });

  test('are reported when they are replaced or removed', async () => {
    await route('rex.test');
    await setCertificate(certificateFor('rex.test'));
    await table.refresh();
    const renewed = certificateFor('rex.test');
    await setCertificate(renewed);
    await table.refresh();
    expect(table.certificate('rex.test')?.chain).toBe(renewed.chain);
    expect(changed).toEqual(['rex.test']);
    await removeCertificate('rex.test');
    await table.refresh();
    expect(table.certificate('rex.test')).toBeUndefined();
    expect(changed).toEqual(['rex.test', 'rex.test']);
  });
});
