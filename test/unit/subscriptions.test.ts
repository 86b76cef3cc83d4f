import { expect, test } from '@jest/globals';
import { MemoryAuditLog } from '../../src/adapters/memory/memory-audit-log.ts';
import { EventBus } from '../../src/adapters/events/event-bus.ts';
import { subscribers, subscribersOf, subscriptions } from '../../src/app/subscriptions.ts';
import type { Sites } from '../../src/sites/sites.ts';
import { mustNotBeUsed } from '../support/strict-fake.ts';

const noSites = mustNotBeUsed<Sites>('sites');
const event = { accountId: 'acct_1', occurredAt: new Date('2026-03-01T10:00:00Z'), petId: '7' };

test.each(Object.entries(subscriptions))('all who react to %s exist', (type, names) => {
  const known = Object.keys(subscribers({ auditLog: new MemoryAuditLog(), sites: noSites }));
  expect(known).toEqual(expect.arrayContaining([...names]));
  expect(subscribersOf(type)).toEqual(names);
});

test('nobody reacts to an event that an older or newer release stored', () => {
  expect(subscribersOf('pet_vaccinated')).toEqual([]);
});

test('the audit log gets what happened, once, however often it is delivered', async () => {
  const auditLog = new MemoryAuditLog();
  const bus = new EventBus(subscribers({ auditLog, sites: noSites }));
  const stored = { id: 'evt_1', event: { type: 'pet_sold', ...event } };
  for (let time = 0; time < 2; time++) await bus.hand(stored, 'audit');
  const { accountId, occurredAt } = event;
  const details = { petId: '7' };
  const entry = { id: 'evt_1', accountId, what: 'pet_sold', occurredAt, details };
  expect(await auditLog.list('acct_1', 10)).toEqual([entry]);
});

test('the certificates of a new deploy are seen to, and the files of a failed or discarded one removed', async () => {
  const calls: string[] = [];
  const sites = {
    secureSites: () => Promise.resolve(calls.push('secure')),
    removeDeployFiles: (deployId: string) => Promise.resolve(void calls.push(deployId)),
  };
  const bus = new EventBus(subscribers({ auditLog: new MemoryAuditLog(), sites }));
  const about = { ...event, projectId: 'proj_1', number: 1 };
  for (const [type, subscriber, deployId] of [
    ['deploy_succeeded', 'certificates', 'dep_1'],
    ['deploy_failed', 'storage', 'dep_2'],
    ['deploy_discarded', 'storage', 'dep_3'],
  ] as const) {
    const told = { type, ...about, deployId };
    await bus.hand({ id: `evt_${deployId}`, event: told }, subscriber);
  }
  expect(calls).toEqual(['secure', 'dep_2', 'dep_3']);
});
