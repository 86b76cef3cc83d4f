import type { NotificationContent, Trouble } from '../../src/notifications/domain/notification.ts';

const trouble: Trouble & { readonly title: string } = {
  problem: 'cname_wrong_target',
  actor: 'customer',
  fix: 'Change the value of the CNAME record to the one shown.',
  title: 'The CNAME record points elsewhere',
};
const quota = { used: 800, limit: 1000, resetsAt: '2026-03-02T00:00:00.000Z' };
const person = { email: 'keeper@zoo.example' };
const signInLink = { account: 'Zoo', path: `/dashboard/sign-in/${'a1'.repeat(21)}b?by=mail` };
const until = '2026-03-01T10:30:00.000Z';

const birds = { project: 'birds', host: 'shop.birds.test', name: 'shop.birds.test' };

export const everyKind = (host = birds, webhookId = 'hook_1'): readonly NotificationContent[] =>
  Object.values({
    'domain.live': { kind: 'domain.live', about: host },
    'domain.removed': { kind: 'domain.removed', about: host },
    'domain.expired': { kind: 'domain.expired', about: host },
    'domain.contested': {
      kind: 'domain.contested',
      about: { ...host, isTaken: true, proof: 'the TXT record' },
    },
    'domain.unhealthy': { kind: 'domain.unhealthy', about: { ...host, ...trouble } },
    'domain.recovered': { kind: 'domain.recovered', about: host },
    'certificate.failing': {
      kind: 'certificate.failing',
      about: { ...host, ...trouble, expiresAt: '2026-03-09T10:00:00.000Z' },
    },
    'certificate.recovered': {
      kind: 'certificate.recovered',
      about: { ...host, expiresAt: '2026-06-01T10:00:00.000Z' },
    },
    'project.deleted': {
      kind: 'project.deleted',
      about: { project: host.project, name: 'Birds', until },
    },
    'deploy.failed': {
      kind: 'deploy.failed',
      about: { project: host.project, number: 7, explanation: 'There is no index.html.' },
    },
    'key.banned': {
      kind: 'key.banned',
      about: { keyId: 'key_1', name: 'Till', until: '2026-03-01T10:05:00.000Z' },
    },
    'quota.warning': { kind: 'quota.warning', about: quota },
    'quota.reached': { kind: 'quota.reached', about: { ...quota, used: 1000 } },
    'operation.removal': {
      kind: 'operation.removal',
      about: { operation: 'getPet', removedAt: '2030-12-05T00:00:00.000Z', days: 30 },
    },
    'webhook.off': {
      kind: 'webhook.off',
      about: { webhookId, receiver: 'hooks.zoo.example', reason: 'failing' },
    },
    'person.invited': {
      kind: 'person.invited',
      about: { ...person, ...signInLink, until, role: 'editor' },
    },
    'sign_in.link': {
      kind: 'sign_in.link',
      about: { ...person, links: [signInLink], until, isForPassword: false },
    },
    'second_factor.changed': {
      kind: 'second_factor.changed',
      about: {
        email: 'keeper@zoo.example',
        account: 'Zoo',
        changedAt: '2026-03-01T10:00:00.000Z',
      },
    },
    'password.changed': {
      kind: 'password.changed',
      about: { ...person, account: 'Zoo', changedAt: '2026-03-01T10:00:00.000Z' },
    },
    'account.deleted': { kind: 'account.deleted', about: { account: 'Zoo', until } },
  } satisfies {
    readonly [Kind in NotificationContent['kind']]: Extract<NotificationContent, { kind: Kind }>;
  });
