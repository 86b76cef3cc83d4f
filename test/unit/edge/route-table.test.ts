import pino from 'pino';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { RouteTable } from '../../../src/adapters/edge/route-table.ts';
import { MemoryEdgeRecords } from '../../memory/memory-edge-records.ts';
import { EdgeRecords, type EdgeChanges } from '../../../src/domains/edge-ports.ts';
import { now } from '../../support/accounts.ts';
import { certificateFor } from '../../support/sites/sites.ts';

/** Stands for any database. It may be restored to an older state. */
class Records extends EdgeRecords {
  inner = new MemoryEdgeRecords();
  readonly asked: bigint[] = [];

  override changesSince(revision: bigint): Promise<EdgeChanges> {
    this.asked.push(revision);
    return this.inner.changesSince(revision);
  }

  override names(): Promise<readonly string[]> {
    return this.inner.names();
  }
}

let records: Records;
let table: RouteTable;
let removed: string[];
let moved: string[];
let changed: string[];
beforeEach(() => {
  records = new Records();
  table = new RouteTable(records, { host: 'sites.test' }, pino({ level: 'silent' }));
  removed = [];
  moved = [];
  changed = [];
  table.on('removed', (host) => removed.push(host));
  table.on('moved', (host) => moved.push(host));
  table.on('certificate', (host) => changed.push(host));
});

const route = (name: string, deployId = 'dep_1', projectId = `proj-${name}`): void =>
  records.inner.setRoute({ name, projectId, kind: 'site', deployId });

describe('the routes of an edge', () => {
  test('are found by host: a name without a dot is a subdomain of the platform host', async () => {
    route('rex.test');
    route('tom');
    await table.refresh();
    expect(table.find('rex.test')).toMatchObject({ deployId: 'dep_1' });
    expect(table.find('tom.sites.test')).toMatchObject({ deployId: 'dep_1' });
    expect(table.find('tom')).toBeUndefined();
    expect(table.size).toBe(2);
  });

  test('follow changes, and request only what changed', async () => {
    route('rex.test');
    route('tom');
    await table.refresh();
    route('rex.test', 'dep_2');
    records.inner.removeRoute('tom', now);
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
    route('rex.test');
    await table.refresh();
    route('rex.test', 'dep_2');
    await table.refresh();
    expect(removed).toEqual([]);
    records.inner.removeRoute('rex.test', now);
    route('rex.test', 'dep_3', 'proj_other');
    await table.refresh();
    expect([removed, moved]).toEqual([[], ['rex.test']]);
    expect(table.find('rex.test')).toMatchObject({ deployId: 'dep_3' });
  });

  test('start over when the database is an older one', async () => {
    for (const name of ['gone.test', 'kept.test', 'moved.test']) route(name);
    await table.refresh();
    records.inner = new MemoryEdgeRecords();
    route('kept.test', 'dep_0');
    route('moved.test', 'dep_0', 'proj_before');
    await table.refresh();
    expect(removed.toSorted()).toEqual(['gone.test', 'moved.test']);
    expect(table.find('kept.test')).toMatchObject({ deployId: 'dep_0' });
    expect(table.size).toBe(2);
    route('new.test');
    await table.refresh();
    expect(table.size).toBe(3);
  });

  test('are seen by a refresh that is requested during another one', async () => {
    for (let steps = 0; steps < 20; steps++) {
      const running = table.refresh();
      for (let step = 0; step < steps; step++) await Promise.resolve();
      route('rex.test', `dep_${steps}`);
      await table.refresh();
      expect(table.find('rex.test')).toMatchObject({ deployId: `dep_${steps}` });
      await running;
    }
  });

  test('stay the same after a failed refresh, and the next one catches up', async () => {
    route('rex.test');
    await table.refresh();
    const { inner } = records;
    const fails = () => Promise.reject(new Error('away'));
    records.inner = Object.assign(new MemoryEdgeRecords(), { changesSince: fails });
    await expect(table.refresh()).rejects.toThrow('away');
    expect(table.find('rex.test')).toBeDefined();
    records.inner = inner;
    route('tom');
    await table.refresh();
    expect(table.size).toBe(2);
  });
});

describe('the routes of a wildcard', () => {
  test('count for each name that has none of its own', async () => {
    route('*.shop.test', 'dep_wild', 'proj_owner');
    route('blog.shop.test', 'dep_own', 'proj_other');
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

  test('are told as removed for a name that moves from them to another project, not within one', async () => {
    route('*.shop.test', 'dep_wild', 'proj_owner');
    await table.refresh();
    route('blog.shop.test', 'dep_own', 'proj_other');
    route('mine.shop.test', 'dep_own', 'proj_owner');
    route('new.test');
    await table.refresh();
    expect(removed).toEqual(['blog.shop.test']);
    records.inner.removeRoute('*.shop.test', now);
    await table.refresh();
    expect(removed).toEqual(['blog.shop.test', '*.shop.test']);
  });

  test('are told so, too, when the database is an older one', async () => {
    route('*.shop.test', 'dep_wild', 'proj_owner');
    for (let n = 0; n < 5; n++) route('else.test', `dep_${n}`);
    await table.refresh();
    records.inner = new MemoryEdgeRecords();
    route('*.shop.test', 'dep_wild', 'proj_owner');
    route('blog.shop.test', 'dep_own', 'proj_other');
    route('mine.shop.test', 'dep_own', 'proj_owner');
    await table.refresh();
    expect(removed.toSorted()).toEqual(['blog.shop.test', 'else.test']);
  });
});

describe('the certificates of an edge', () => {
  test('belong to hosts with a route, whichever comes first', async () => {
    const [rex, tom] = [certificateFor('rex.test'), certificateFor('tom.sites.test')];
    records.inner.setCertificate(rex);
    route('tom');
    await table.refresh();
    expect([table.certificate('rex.test'), table.certificate('tom.sites.test')]).toEqual([
      undefined,
      undefined,
    ]);
    route('rex.test');
    records.inner.setCertificate(tom);
    await table.refresh();
    expect(table.certificate('rex.test')?.chain).toBe(rex.chain);
    expect(table.certificate('tom.sites.test')?.chain).toBe(tom.chain);
    records.inner.removeRoute('tom', now);
    await table.refresh();
    expect(table.certificate('tom.sites.test')).toBeUndefined();
  });

  test('report that they may be others when the database is an older one, also that of all names of the platform', async () => {
    const hosts = ['*.sites.test', 'rex.test', 'tom.sites.test'];
    for (const host of hosts) records.inner.setCertificate(certificateFor(host));
    await table.refresh();
    changed.length = 0;
    records.inner = new MemoryEdgeRecords();
    const older = certificateFor('*.sites.test');
    records.inner.setCertificate(older);
    await table.refresh();
    expect(table.platformCertificate?.chain).toBe(older.chain);
    expect(changed.toSorted()).toEqual(hosts);
  });

  test('report when they are replaced or removed', async () => {
    route('rex.test');
    records.inner.setCertificate(certificateFor('rex.test'));
    await table.refresh();
    const renewed = certificateFor('rex.test');
    records.inner.setCertificate(renewed);
    await table.refresh();
    expect(table.certificate('rex.test')?.chain).toBe(renewed.chain);
    expect(changed).toEqual(['rex.test']);
    records.inner.removeCertificate('rex.test', now);
    await table.refresh();
    expect(table.certificate('rex.test')).toBeUndefined();
    expect(changed).toEqual(['rex.test', 'rex.test']);
  });
});
