import { expect, test } from '@jest/globals';
import type { Subscriber, Subscribers } from '../../../src/app/queues.ts';
import {
  subscribers,
  hiddenTypes,
  subscribersOf,
  subscriptions,
} from '../../../src/app/subscriptions.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

type Reactions = Parameters<typeof subscribers>[0];
interface Subscription {
  readonly subscribers: readonly string[];
}

const subscribersOver = (known: Partial<Reactions> = {}) =>
  subscribers({
    sites: mustNotBeUsed<Reactions['sites']>('sites'),
    domains: mustNotBeUsed<Reactions['domains']>('domains'),
    addNotice: () => Promise.reject(new Error('nobody was to be told')),
    mailOwners: () => Promise.reject(new Error('nobody was to be told by mail')),
    mailPeople: () => Promise.reject(new Error('nobody was to be mailed')),
    mailAccount: () => Promise.reject(new Error('no account was to be mailed')),
    callWebhooks: () => Promise.reject(new Error('no webhook was to be called')),
    webhooks: mustNotBeUsed<Reactions['webhooks']>('webhooks'),
    callDueWebhooks: () => {
      throw new Error('no webhook was to be called');
    },
    secureSites: () => {
      throw new Error('no certificate was to be seen to');
    },
    tendDomains: () => {
      throw new Error('no domain was to be tended');
    },
    ...known,
  });
const handingTo = (known: Partial<Reactions>) => {
  const all: Subscribers = subscribersOver(known);
  return (stored: Parameters<Subscriber>[0], name: string) => all[name]?.(stored);
};
const project = {
  accountId: 'acct_1',
  name: 'Birds',
  slug: 'birds',
  createdAt: new Date('2026-03-01T10:00:00Z'),
  deletedAt: undefined,
};
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

test('the audit log hides only events that repeat other entries or appear as notices', () => {
  expect(hiddenTypes).toEqual([
    ...['link_mail_wanted', 'deploy_discarded'],
    ...['domain_prepared', 'domain_unprepared', 'domain_contested'],
    ...['certificate_ordered', 'certificate_issued'],
    ...['domain_unhealthy', 'domain_recovered'],
    ...['certificate_failing', 'certificate_recovered'],
    ...['quota_warning', 'quota_reached', 'operation_removal'],
    ...['webhook_tested', 'webhook_repeated'],
  ]);
});

test('each event triggers the work that the table names for it', async () => {
  const calls: string[] = [];
  const projects = ['proj_1', 'proj_2'].map((id) => ({ ...project, id }));
  const sites = {
    listAllProjects: () => Promise.resolve(projects),
    removeDeployFiles: (deployId: string) => Promise.resolve(void calls.push(deployId)),
  };
  const domains = {
    adoptPrimary: (projectId: string) => Promise.resolve(void calls.push(projectId)),
    followProject: (projectId: string) => Promise.resolve(void calls.push(`follow ${projectId}`)),
  };
  const secureSites = () => void calls.push('secure');
  const tendDomains = () => void calls.push('tend');
  const hand = handingTo({ sites, domains, secureSites, tendDomains });
  const about = { ...event, projectId: 'proj_1', number: 1 };
  for (const [type, subscriber, deployId] of [
    ['deploy_succeeded', 'certificates', 'dep_1'],
    ['deploy_failed', 'storage', 'dep_2'],
    ['deploy_discarded', 'storage', 'dep_3'],
  ] as const) {
    const told = { type, ...about, deployId };
    await hand({ id: `evt_${deployId}`, actor: 'service', event: told }, subscriber);
  }
  const live = { ...about, type: 'domain_live', domainId: 'dom_1', host: 'shop.example' };
  await hand({ id: 'evt_1', actor: 'service', event: live }, 'primaries');
  for (const type of ['project_deleted', 'account_deleted'] as const) {
    const { projectId, ...ofAccount } = { ...about, type, projectId: 'proj_2' };
    const told = type === 'project_deleted' ? { ...ofAccount, projectId } : ofAccount;
    await hand({ id: `evt_${type}`, actor: 'service', event: told }, 'deletions');
  }
  expect(calls).toEqual([
    ...['secure', 'dep_2', 'dep_3', 'proj_1'],
    ...['follow proj_2', 'tend', 'secure'],
    ...['follow proj_1', 'follow proj_2', 'tend', 'secure'],
  ]);
});

test('a verified domain is worked on in the background', async () => {
  let told = 0;
  const hand = handingTo({
    tendDomains: () => {
      told += 1;
    },
  });
  const verified = { type: 'domain_verified', ...event, domainId: 'dom_1', host: 'shop.example' };
  await hand({ id: 'evt_1', actor: 'service', event: verified }, 'domains');
  expect(told).toBe(1);
});

test('owners are notified of an event in every channel or in none', () => {
  const ways = ['notices', 'mail', 'webhooks'] as const;
  const told = Object.values(subscriptions).map(({ subscribers: names }: Subscription) => names);
  const some = told.filter((names) => ways.some((way) => names.includes(way)));
  expect(some.length).toBeGreaterThan(0);
  expect(some.filter((names) => !ways.every((way) => names.includes(way)))).toEqual([]);
});

test('a webhook test is added before the search for due calls, and sending again only needs the search', async () => {
  const calls: string[] = [];
  const hand = handingTo({
    webhooks: { pingWebhook: (id) => Promise.resolve(void calls.push(id)) },
    callDueWebhooks: () => void calls.push('look'),
  });
  const about = { ...event, webhookId: 'hook_1', receiver: 'zoo.example' };
  const tested = { ...about, type: 'webhook_tested' };
  await hand({ id: 'evt_1', actor: 'service', event: tested }, 'requests');
  const repeated = { ...about, type: 'webhook_repeated', deliveryId: 'whd_1' };
  await hand({ id: 'evt_2', actor: 'service', event: repeated }, 'requests');
  expect(calls).toEqual(['evt_1', 'look', 'look']);
});

test('people are mailed when they are invited, and when their password or second factor changed', () => {
  const mailed = Object.entries<Subscription>(subscriptions).filter(([, { subscribers: names }]) =>
    names.includes('personalMails'),
  );
  expect(mailed.map(([type]) => type)).toEqual([
    'link_mail_wanted',
    'password_changed',
    'second_factor_added',
    'second_factor_removed',
    'second_factor_reset',
    'recovery_code_used',
  ]);
});
