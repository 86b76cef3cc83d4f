import { expect, test } from '@jest/globals';
import { notificationOf, type Named } from '../../../src/app/notification-for-event.ts';
import type { Actor } from '../../../src/kernel/ports.ts';
import { inWords } from '../../../src/notifications/domain/kinds.ts';
import { now } from '../../support/accounts.ts';

const astray = {
  problem: 'cname_wrong_target',
  actor: 'customer',
  fix: 'Change the CNAME record.',
};
const project = { id: 'proj_1', slug: 'birds' };
const failed = { id: 'dep_1', state: 'failed', explanation: 'There is no index.html.' };
const named = {
  sites: {
    listProjects: (accountId: string) => Promise.resolve(accountId === 'acct_1' ? [project] : []),
    getSite: () => Promise.resolve({ deploys: [failed] }),
  },
  access: {
    listApiKeys: () => Promise.resolve([{ id: 'key_1', name: 'Till' }]),
    isInService: (accountId: string) => Promise.resolve(accountId !== 'acct_deleted'),
  },
} as unknown as Named;

const tell = (type: string, details: object, actor: Actor = 'service') => {
  const event = { type, accountId: 'acct_1', occurredAt: now, projectId: 'proj_1', ...details };
  return notificationOf({ id: 'evt_1', actor, event }, named);
};
const host = { domainId: 'dom_1', host: 'xn--zo-ija.example' };
const about = { project: 'birds', host: host.host, name: 'zoë.example (xn--zo-ija.example)' };

test('a notification has the id, the account and the time of its event', async () => {
  expect(await tell('domain_live', host)).toEqual({
    id: 'evt_1',
    accountId: 'acct_1',
    occurredAt: now,
    kind: 'domain.live',
    about,
  });
});

test.each([
  ['owner', 'domain.removed'],
  ['contested', 'domain.contested'],
  ['expired', 'domain.expired'],
  ['a reason of a newer version', 'domain.removed'],
])('a domain removed for the reason "%s" is reported as %s', async (reason, kind) => {
  expect(await tell('domain_removed', { ...host, reason })).toMatchObject({ kind, about });
});

test.each([
  ['domain_removed', true],
  ['domain_contested', false],
])('a contested domain is reported after %s as taken: %s', async (type, isTaken) => {
  const told = await tell(type, { ...host, reason: 'contested' });
  expect(told).toMatchObject({ kind: 'domain.contested', about: { ...about, isTaken } });
  expect(told).toMatchObject({ about: { proof: 'the TXT record' } });
});

test('a domain that waits under a wildcard is told that the wildcard was proven, not its own name', async () => {
  const told = await tell('domain_contested', { ...host, wildcard: '*.example' });
  const { title, text } = inWords(told!);
  expect(title).toBe('Another account has proven that it owns *.example');
  expect(text).toContain(`*.example covers ${about.name}.`);
  expect(text).toContain('create the TXT record too: then it goes live');
});

test.each(['domain_removed', 'domain_contested'])(
  'a contested wildcard is reported after %s as proven by its delegation',
  async (type) => {
    const wildcard = { ...host, host: '*.shop.example', reason: 'contested' };
    const told = await tell(type, wildcard);
    const proof = 'the CNAME record of _acme-challenge.shop.example';
    expect(told).toMatchObject({ kind: 'domain.contested', about: { proof } });
    expect(told && inWords(told).text).toContain(`create ${proof}`);
    expect(told && inWords(told).text).not.toContain('TXT');
  },
);

test('a problem is reported with its title, who acts, and what helps', async () => {
  expect(await tell('domain_unhealthy', { ...host, ...astray })).toMatchObject({
    kind: 'domain.unhealthy',
    about: { ...about, ...astray, title: 'The CNAME record points elsewhere' },
  });
});

test('a certificate that cannot be renewed is reported with its end', async () => {
  const expiresAt = '2026-03-08T10:00:00.000Z';
  const told = await tell('certificate_failing', { ...host, ...astray, expiresAt });
  expect(inWords(told!).title).toBe(`The certificate of ${about.name} could not be renewed`);
  expect(inWords(told!).text).toContain('ends on 8 March 2026, 10:00 UTC');
});

test('a certificate that never existed has no end, and its problem may be unknown', async () => {
  const unknown = { problem: '', actor: 'us', fix: '', expiresAt: '' };
  const told = await tell('certificate_failing', { ...host, ...unknown });
  expect(told?.about).toEqual({
    ...about,
    problem: '',
    actor: 'us',
    fix: '',
    title: 'We do not know why yet',
  });
});

test.each([
  ['domain_removed', 'owner', 'person:keeper@zoo.example', 'keeper@zoo.example'],
  ['domain_removed', 'owner', 'operator', undefined],
  ['domain_removed', 'contested', 'person:rival@zoo.example', undefined],
  ['domain_live', '', 'person:keeper@zoo.example', undefined],
] as const)('%s (%s), done by %s, is not reported to: %s', async (type, reason, actor, by) => {
  expect((await tell(type, { ...host, reason }, actor))?.by).toBe(by);
});

test.each([
  ['person:keeper@zoo.example', undefined],
  ['operator', 'deploy.failed'],
  ['service', 'deploy.failed'],
] as const)(
  'a failed deploy by %s is reported as %s, because only a person has already seen it',
  async (actor, kind) => {
    const told = await tell('deploy_failed', { deployId: 'dep_1', number: 7 }, actor);
    expect(told?.kind).toBe(kind);
    if (told) expect(told.about).toMatchObject({ number: 7, explanation: failed.explanation });
  },
);

test('a notice refers to a key by its name', async () => {
  const until = now.toISOString();
  expect(await tell('api_key_banned', { keyId: 'key_1', until })).toMatchObject({
    kind: 'key.banned',
    about: { keyId: 'key_1', name: 'Till', until },
  });
});

test.each([
  ['quota_warning', 'quota.warning'],
  ['quota_reached', 'quota.reached'],
])('%s is reported as %s', async (type, kind) => {
  const use = { used: 8, limit: 10, resetsAt: now.toISOString() };
  expect(await tell(type, use)).toMatchObject({ kind, about: use });
});

test('an event of a project or account that was deleted meanwhile is not reported', async () => {
  expect(await tell('domain_live', { ...host, accountId: 'acct_2' })).toBeUndefined();
  const use = { used: 800, limit: 1000, resetsAt: '2026-03-02T00:00:00.000Z' };
  expect(await tell('quota_warning', { ...use, accountId: 'acct_deleted' })).toBeUndefined();
});

test('the deletion of a project is reported, although the project no longer exists', async () => {
  const about = { slug: 'gone', name: 'Gone', until: '2026-03-08T10:00:00.000Z' };
  expect(await tell('project_deleted', { ...about, projectId: 'proj_gone' })).toMatchObject({
    kind: 'project.deleted',
    about: { project: 'gone', name: 'Gone', until: about.until },
  });
});

test.each([
  ['gone', 'webhook.off'],
  ['failing', 'webhook.off'],
  ['by_hand', undefined],
])('a webhook switched off for the reason "%s" is reported as %s', async (reason, kind) => {
  const about = { webhookId: 'hook_1', receiver: 'zoo.example', reason };
  const told = await tell('webhook_switched_off', about);
  expect(told?.kind).toBe(kind);
  if (told) expect(told.about).toEqual(about);
});
