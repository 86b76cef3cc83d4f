import type { AccessEvent } from '../../../access/domain/access-event.ts';
import type { AuditEntry } from '../../../access/ports.ts';
import type { CatalogueEvent } from '../../../catalogue/domain/catalogue-event.ts';
import type { DomainsEvent } from '../../../domains/domain/domains-event.ts';
import type { DomainEvent } from '../../../kernel/decision.ts';
import type { WebhookEvent } from '../../../notifications/domain/webhook.ts';
import type { SitesEvent } from '../../../sites/domain/sites-event.ts';
import { count, counted, planNames } from '../frame/parts.ts';

export interface Names {
  readonly key: (id: string) => string;
  readonly person: (id: string) => string;
  readonly project: (id: string) => string;
  readonly domain: (id: string) => string;
}

type AnyEvent = AccessEvent | CatalogueEvent | SitesEvent | DomainsEvent | WebhookEvent;
type Details<Type> = Omit<Extract<AnyEvent, { type: Type }>, keyof DomainEvent>;

export const topicNames = {
  account: 'Account and plan',
  people: 'People and sign-in',
  keys: 'API keys',
  projects: 'Projects and deploys',
  domains: 'Domains and certificates',
  webhooks: 'Webhooks',
  animals: 'Animals and orders',
} as const;

export type Topic = keyof typeof topicNames;

type Words = {
  readonly [Type in AnyEvent['type']]: (about: Details<Type>, names: Names) => string;
};

const wordsByTopic = {
  account: {
    account_opened: ({ plan }) => `Opened the account on the ${planNames[plan]} plan`,
    account_renamed: ({ name }) => `Renamed the account to ${name}`,
    account_deleted: ({ until }) =>
      `Deleted the account; it can be restored until ${moment(until)}`,
    account_restored: () => 'Restored the account',
    plan_changed: ({ from, to, perMinute, perDay, projects, domains, storageGib }) =>
      [
        `Changed the plan from ${planNames[from]} to ${planNames[to]}: ${count(perMinute)} requests per minute`,
        `${count(perDay)} per day`,
        ...(projects === undefined ? [] : [`${count(projects)} projects`]),
        ...(domains === undefined ? [] : [`${count(domains)} custom domains`]),
        ...(storageGib === undefined ? [] : [`${count(storageGib)} GiB of files`]),
      ].join(', '),
  },
  people: {
    person_invited: ({ email, role }) => `Invited ${email} as ${role}`,
    person_role_changed: ({ email, from, to }) => `Made ${email} ${to} instead of ${from}`,
    sign_in_link_made: ({ email }) => `Created a sign-in link for ${email}`,
    link_mail_wanted: ({ email }) => `Asked for a sign-in link by mail for ${email}`,
    sign_in_link_mailed: ({ email }) => `Sent a sign-in link to ${email} by mail`,
    person_removed: ({ email }) => `Removed ${email}`,
    person_signed_in: ({ personId, way }, { person }) =>
      `${person(personId)} signed in ${way === 'link' ? 'with a link' : 'with the password'}`,
    password_changed: ({ personId }, { person }) => `Changed the password of ${person(personId)}`,
    second_factor_added: ({ personId, method }, { person }) =>
      `Added ${methods[method] ?? method} as second factor of ${person(personId)}`,
    second_factor_removed: ({ personId, method }, { person }) =>
      `Removed ${methods[method] ?? method} from the second factors of ${person(personId)}`,
    second_factor_reset: ({ personId }, { person }) =>
      `Removed all second factors of ${person(personId)}`,
    recovery_codes_made: ({ personId }, { person }) =>
      `Created new recovery codes for ${person(personId)}`,
    recovery_code_used: ({ personId, left }, { person }) =>
      `${person(personId)} used a recovery code; ${left} are left`,
    second_factor_demanded: ({ isDemanded }) =>
      isDemanded ? 'Required a second factor of everybody' : 'Stopped requiring a second factor',
    session_revoked: ({ personId }, { person }) => `Ended a session of ${person(personId)}`,
  },
  keys: {
    api_key_issued: ({ keyId }, { key }) => `Created the API key ${key(keyId)}`,
    api_key_rotated: ({ keyId, oldSecretUntil }, { key }) =>
      `Rotated the API key ${key(keyId)}; the old secret is valid until ${moment(oldSecretUntil)}`,
    api_key_banned: ({ keyId, until }, { key }) =>
      `Banned the API key ${key(keyId)} until ${moment(until)}`,
    api_key_ban_lifted: ({ keyId }, { key }) => `Lifted the ban of the API key ${key(keyId)}`,
    api_key_revoked: ({ keyId }, { key }) => `Revoked the API key ${key(keyId)}`,
    quota_warning: ({ used, limit }) =>
      `Used ${count(used)} of ${count(limit)} requests of the day`,
    quota_reached: ({ limit }) => `Used all ${count(limit)} requests of the day`,
    operation_removal: ({ operation, days }) =>
      `Still calls ${operation}, which will be removed in ${counted(days, 'day')}`,
  },
  projects: {
    project_created: ({ slug }) => `Created the project ${slug}`,
    project_renamed: ({ name, slug, from }) =>
      from === undefined
        ? `Renamed the project ${slug} to ${name}`
        : `Moved the project ${name} from ${from} to ${slug}`,
    project_deleted: ({ slug, until }) =>
      `Deleted the project ${slug}; it can be restored until ${moment(until)}`,
    project_restored: ({ slug }) => `Restored the project ${slug}`,
    project_ended: ({ slug }) => `Permanently removed the project ${slug}`,
    deploy_succeeded: ({ projectId, number }, { project }) =>
      `Deployed ${project(projectId)}: deploy ${number}`,
    deploy_failed: ({ projectId, number, problem }, { project }) =>
      `Deploy ${number} of ${project(projectId)} failed: ${plain(problem)}`,
    site_rolled_back: ({ projectId, number }, { project }) =>
      `Switched ${project(projectId)} to deploy ${number}`,
    deploy_discarded: ({ projectId }, { project }) => `Discarded a deploy of ${project(projectId)}`,
    deploy_deleted: ({ projectId, number }, { project }) =>
      `Deleted deploy ${number} of ${project(projectId)}`,
  },
  domains: {
    domain_settings_changed: ({ projectId, primary, redirects }, { project }) =>
      `Changed the domain settings of ${project(projectId)}: ${primary ? `primary domain ${primary}` : 'no primary domain'}, ${counted(redirects, 'redirect')}`,
    domain_added: ({ host, projectId }, { project }) => `Added ${host} to ${project(projectId)}`,
    domain_prepared: ({ host }) => `The certificate of ${host} is ready`,
    domain_unprepared: ({ host }) => `The certificate of ${host} is no longer ready`,
    domain_verified: ({ host }) => `Verified ${host}`,
    domain_live: ({ host }) => `${host} is live`,
    domain_removed: ({ host, reason }) => `Removed ${host}${removals[reason] ?? `: ${reason}`}`,
    domain_shared: ({ host }) => `Created a link to the DNS records of ${host}`,
    domain_share_ended: ({ host }) => `Revoked a link to the DNS records of ${host}`,
    domain_contested: ({ host }) => `Another account has proven ${host}`,
    domain_unhealthy: ({ host, problem }) =>
      `${host} has led elsewhere for an hour: ${plain(problem)}`,
    domain_recovered: ({ host }) => `${host} leads here again`,
    certificate_ordered: ({ domainId }, { domain }) =>
      `Ordered a certificate for ${domain(domainId)}`,
    certificate_issued: ({ domainId, notAfter }, { domain }) =>
      `${domain(domainId)} has a certificate until ${moment(notAfter)}`,
    certificate_renewed: ({ domainId, notAfter }, { domain }) =>
      `Renewed the certificate of ${domain(domainId)}, until ${moment(notAfter)}`,
    certificate_failed: ({ domainId, problem, attempt, isRenewal }, { domain }) =>
      `No ${isRenewal ? 'renewed ' : ''}certificate for ${domain(domainId)} at attempt ${attempt}: ${plain(problem)}`,
    certificate_failing: ({ host }) => `The certificate of ${host} could not be issued`,
    certificate_recovered: ({ host, expiresAt }) =>
      `${host} has a certificate after all, until ${moment(expiresAt)}`,
  },
  webhooks: {
    webhook_added: ({ receiver }) => `Added a webhook to ${receiver}`,
    webhook_changed: ({ receiver }) => `Changed the webhook to ${receiver}`,
    webhook_rotated: ({ receiver, oldSecretUntil }) =>
      `Rotated the secret of the webhook to ${receiver}; the old secret also signs until ${moment(oldSecretUntil)}`,
    webhook_switched_on: ({ receiver }) => `Switched on the webhook to ${receiver}`,
    webhook_switched_off: ({ receiver, reason }) =>
      `Switched off the webhook to ${receiver}${offReasons[reason] ?? ''}`,
    webhook_removed: ({ receiver }) => `Removed the webhook to ${receiver}`,
    webhook_tested: ({ receiver }) => `Sent a test to the webhook to ${receiver}`,
    webhook_repeated: ({ receiver }) => `Sent a delivery to ${receiver} again`,
  },
  animals: {
    pet_added: ({ petId }) => `Added animal ${petId}`,
    pet_changed: ({ petId, name, categoryId }) =>
      `Changed animal ${petId}: ${name}, category ${categoryId}`,
    pet_reserved: ({ petId }) => `Reserved animal ${petId}`,
    pet_released: ({ petId }) => `Released animal ${petId}`,
    pet_sold: ({ petId }) => `Sold animal ${petId}`,
    pet_deleted: ({ petId, name }) => `Deleted animal ${petId}, ${name}`,
    order_approved: ({ orderId }) => `Approved order ${orderId}`,
    order_delivered: ({ orderId }) => `Delivered order ${orderId}`,
  },
} satisfies Readonly<Record<Topic, Partial<Words>>>;

/** Every event needs words under some topic, or this does not compile. */
const words: Words = {
  ...wordsByTopic.account,
  ...wordsByTopic.people,
  ...wordsByTopic.keys,
  ...wordsByTopic.projects,
  ...wordsByTopic.domains,
  ...wordsByTopic.webhooks,
  ...wordsByTopic.animals,
};

const methods: Readonly<Record<string, string>> = {
  app: 'an authenticator app',
  passkey: 'a passkey',
};

const offReasons: Readonly<Record<string, string>> = {
  gone: ': it answered 410 Gone',
  failing: ': no delivery succeeded for five days',
};

const removals: Readonly<Record<string, string>> = {
  owner: '',
  contested: ': another account proved that it owns the name',
  expired: ': its DNS was not correct for 30 days',
};

/** `2026-03-01 10:00 UTC` */
const moment = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

const plain = (code: string): string => code.replaceAll('_', ' ');

type Told = Pick<AuditEntry, 'what' | 'details'>;

/** @returns undefined for an event of a newer version */
export const auditWords = ({ what, details }: Told, names: Names): string | undefined => {
  const tell = Object.hasOwn(words, what) ? words[what as AnyEvent['type']] : undefined;
  return tell?.(details as never, names);
};

export const actorName = (actor: string, { key }: Pick<Names, 'key'>): string => {
  if (actor === 'operator') return 'Operator';
  if (actor === 'service') return 'Animal Store (automatic)';
  if (actor.startsWith('key:')) return `API key ${key(actor.slice('key:'.length))}`;
  return actor.startsWith('person:') ? actor.slice('person:'.length) : actor;
};

export const kindsOf = (topic: Topic): readonly string[] => Object.keys(wordsByTopic[topic]);

export const topicOf = (text: string | null): Topic | undefined =>
  text !== null && Object.hasOwn(topicNames, text) ? (text as Topic) : undefined;
