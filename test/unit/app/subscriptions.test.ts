import { expect, test } from '@jest/globals';
import { EventBus } from '../../../src/adapters/events/event-bus.ts';
import {
  hiddenTypes,
  subscribers,
  subscribersOf,
  subscriptions,
} from '../../../src/app/subscriptions.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

type Reactions = Parameters<typeof subscribers>[0];

/** All subscribers, over ports that must not be used by default. */
const subscribersOver = (known: Partial<Reactions> = {}) =>
  subscribers({
    sites: mustNotBeUsed<Reactions['sites']>('sites'),
    domains: mustNotBeUsed<Reactions['domains']>('domains'),
    secureSites: () => {
      throw new Error('no certificate was to be seen to');
    },
    tendDomains: () => {
      throw new Error('no domain was to be tended');
    },
    ...known,
  });
const event = { accountId: 'acct_1', occurredAt: new Date('2026-03-01T10:00:00Z'), petId: '7' };

test.each(Object.entries(subscriptions))(
  'every subscriber to %s exists',
  (type, { subscribers: names }) => {
    const known = Object.keys(subscribersOver());
    expect(known).toEqual(expect.arrayContaining([...names]));
    expect(subscribersOf(type)).toEqual(names);
  },
);

test('an event type of a newer version has no subscribers', () => {
  expect(subscribersOf('pet_vaccinated')).toEqual([]);
});

test('the audit log hides only what repeats other entries', () => {
  expect(hiddenTypes).toEqual(['deploy_discarded', 'certificate_ordered', 'certificate_issued']);
});

test('each event sets off the work that the table names for it', async () => {
  const calls: string[] = [];
  const sites = {
    removeDeployFiles: (deployId: string) => Promise.resolve(void calls.push(deployId)),
  };
  const domains = {
    adoptPrimary: ({ host }: { readonly host: string }) => Promise.resolve(void calls.push(host)),
  };
  const secureSites = () => void calls.push('secure');
  const bus = new EventBus(subscribersOver({ sites, domains, secureSites }));
  const about = { ...event, projectId: 'proj_1', number: 1 };
  for (const [type, subscriber, deployId] of [
    ['deploy_succeeded', 'certificates', 'dep_1'],
    ['deploy_failed', 'storage', 'dep_2'],
    ['deploy_discarded', 'storage', 'dep_3'],
  ] as const) {
    const told = { type, ...about, deployId };
    await bus.hand({ id: `evt_${deployId}`, actor: 'service', event: told }, subscriber);
  }
  const live = { ...about, type: 'domain_live', domainId: 'dom_1', host: 'shop.example' };
  await bus.hand({ id: 'evt_1', actor: 'service', event: live }, 'primary');
  expect(calls).toEqual(['secure', 'dep_2', 'dep_3', 'shop.example']);
});

test('a verified domain is worked on in the background', async () => {
  let told = 0;
  const bus = new EventBus(
    subscribersOver({
      tendDomains: () => {
        told += 1;
      },
    }),
  );
  const verified = { type: 'domain_verified', ...event, domainId: 'dom_1', host: 'shop.example' };
  await bus.hand({ id: 'evt_1', actor: 'service', event: verified }, 'domains');
  expect(told).toBe(1);
});
