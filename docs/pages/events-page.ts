import { subscriptions, type AnyEvent, type SubscriberName } from '../../src/app/subscriptions.ts';
import type { DomainEvent } from '../../src/kernel/decision.ts';
import { code, list, page, printed, table } from './markdown.ts';

type Carried<Type> = Exclude<keyof Extract<AnyEvent, { type: Type }>, keyof DomainEvent>;

/** When each event happens and what it carries of its own. A new event does not compile until it is told. */
const told: {
  readonly [Type in AnyEvent['type']]: readonly [when: string, ...carries: Carried<Type>[]];
} = {
  pet_added: ['An animal was added.', 'petId'],
  pet_changed: ['An animal got another name or category.', 'petId', 'name', 'categoryId'],
  pet_reserved: ['An available animal was held for a buyer.', 'petId'],
  pet_released: ['A reserved animal became available again.', 'petId'],
  pet_sold: ['An animal was sold, which made an order.', 'petId'],
  pet_deleted: ['An animal that was never sold was deleted.', 'petId', 'name'],
  order_approved: ['An order was approved.', 'orderId'],
  order_delivered: ['An order was delivered.', 'orderId'],
  account_opened: ['An account was opened.', 'plan'],
  account_renamed: ['An account has another name.', 'name'],
  account_deleted: ['An account was deleted; it can be restored for 7 days.', 'name', 'until'],
  account_restored: ['A deleted account was restored.'],
  plan_changed: [
    'An account moved to another plan or other limits.',
    'from',
    'to',
    'perMinute',
    'perDay',
    'projects',
    'domains',
    'storageGib',
  ],
  api_key_issued: ['An API key was issued.', 'keyId'],
  api_key_rotated: ['An API key got a new secret.', 'keyId', 'oldSecretUntil'],
  api_key_banned: ['An API key was banned for a while.', 'keyId', 'until'],
  api_key_ban_lifted: ['The ban of an API key was ended early.', 'keyId'],
  api_key_revoked: ['An API key was revoked.', 'keyId'],
  person_invited: ['Somebody may sign in to the dashboard.', 'personId', 'email', 'role'],
  person_role_changed: ['Somebody has another role.', 'personId', 'email', 'from', 'to'],
  person_removed: ['Somebody may no longer sign in.', 'personId', 'email'],
  sign_in_link_made: ['A link was made that signs somebody in once.', 'personId', 'email'],
  link_mail_wanted: [
    'Somebody made a link for another person, who gets one by mail too.',
    'personId',
    'email',
    'whose',
  ],
  sign_in_link_mailed: ['A link that signs somebody in once is sent by mail.', 'personId', 'email'],
  person_signed_in: ['Somebody signed in.', 'personId', 'way'],
  password_changed: ['Somebody chose a password.', 'personId'],
  second_factor_added: ['Somebody set up a second factor.', 'personId', 'method'],
  second_factor_removed: ['Somebody removed a second factor.', 'personId', 'method'],
  second_factor_reset: ['The operator removed all second factors of a person.', 'personId'],
  recovery_codes_made: ['Somebody got new recovery codes.', 'personId'],
  recovery_code_used: ['Somebody used a recovery code.', 'personId', 'left'],
  second_factor_demanded: ['An account demands a second factor, or no longer.', 'isDemanded'],
  session_revoked: ['A person ended one of their sessions.', 'personId', 'sessionId'],
  project_created: ['A project was started.', 'projectId', 'slug'],
  project_renamed: [
    'A project has another name, or another address.',
    ...(['projectId', 'name', 'slug', 'from'] as const),
  ],
  project_deleted: [
    'A project was deleted; it can be restored for 7 days.',
    ...(['projectId', 'name', 'slug', 'until'] as const),
  ],
  project_restored: ['A deleted project was restored.', 'projectId', 'slug'],
  project_ended: ['A deleted project was not restored in time, and is gone.', 'projectId', 'slug'],
  deploy_succeeded: ['A deploy is complete.', 'projectId', 'deployId', 'number'],
  deploy_failed: [
    'An upload was refused or interrupted.',
    'projectId',
    'deployId',
    'number',
    'problem',
  ],
  site_rolled_back: ['An older deploy is served again.', 'projectId', 'deployId', 'number'],
  deploy_discarded: ['A deploy is no longer kept.', 'projectId', 'deployId'],
  deploy_deleted: ['A deploy was deleted by its owner.', 'projectId', 'deployId', 'number'],
  domain_settings_changed: [
    'A project has another primary domain, or other redirects.',
    'projectId',
    'primary',
    'redirects',
  ],
  domain_added: ['A custom domain was added to a project.', 'projectId', 'domainId', 'host'],
  domain_prepared: [
    'The name of a domain is proven and its certificate is there, before its DNS leads here.',
    'projectId',
    'domainId',
    'host',
  ],
  domain_unprepared: [
    'The record that proved such a name is gone or names another account, or its certificate has ended.',
    'projectId',
    'domainId',
    'host',
  ],
  domain_verified: [
    'The DNS of a domain is right; a certificate is ordered at once.',
    'projectId',
    'domainId',
    'host',
  ],
  domain_live: ['A domain is served from now on.', 'projectId', 'domainId', 'host'],
  domain_removed: ['A domain is no longer served.', 'projectId', 'domainId', 'host', 'reason'],
  domain_shared: [
    'A link shows the DNS records of a domain to somebody who is not signed in.',
    'projectId',
    'domainId',
    'host',
    'shareId',
  ],
  domain_share_ended: ['Such a link was revoked.', 'projectId', 'domainId', 'host', 'shareId'],
  domain_contested: [
    'Another account has proven the name of a domain that still waits for its proof, or a wildcard over it.',
    'projectId',
    'domainId',
    'host',
  ],
  certificate_ordered: [
    'An attempt at a certificate began.',
    'projectId',
    'domainId',
    'generation',
  ],
  certificate_issued: ['A domain has its first certificate.', 'projectId', 'domainId', 'notAfter'],
  certificate_renewed: ['A domain has its next certificate.', 'projectId', 'domainId', 'notAfter'],
  certificate_failed: [
    'An attempt at a certificate failed.',
    'projectId',
    'domainId',
    'problem',
    'attempt',
    'isRenewal',
  ],
  domain_unhealthy: [
    'A live domain has led elsewhere for an hour.',
    ...(['projectId', 'domainId', 'host', 'problem', 'actor', 'fix'] as const),
  ],
  domain_recovered: [
    'A domain that had led elsewhere for an hour is right again.',
    'projectId',
    'domainId',
    'host',
  ],
  certificate_failing: [
    'A domain does not get its certificate; again every third day.',
    ...(['projectId', 'domainId', 'host', 'problem', 'actor', 'fix', 'expiresAt'] as const),
  ],
  certificate_recovered: [
    'A domain that did not get its certificate has one.',
    ...(['projectId', 'domainId', 'host', 'expiresAt'] as const),
  ],
  quota_warning: [
    'An account has used 80 % of its requests of a day.',
    'used',
    'limit',
    'resetsAt',
  ],
  quota_reached: ['An account has used all its requests of a day.', 'used', 'limit', 'resetsAt'],
  operation_removal: [
    'An account calls an operation that will be removed soon.',
    'operation',
    'removedAt',
    'days',
  ],
  webhook_added: ['A webhook was added.', 'webhookId', 'receiver'],
  webhook_changed: ['A webhook has another address, or other kinds.', 'webhookId', 'receiver'],
  webhook_rotated: ['A webhook has a new secret.', 'webhookId', 'receiver', 'oldSecretUntil'],
  webhook_switched_on: ['A webhook was switched on.', 'webhookId', 'receiver'],
  webhook_switched_off: [
    'A webhook was switched off, by hand or because it failed.',
    'webhookId',
    'receiver',
    'reason',
  ],
  webhook_removed: ['A webhook was removed.', 'webhookId', 'receiver'],
  webhook_tested: ['Somebody asked for a test of a webhook.', 'webhookId', 'receiver'],
  webhook_repeated: [
    'Somebody asked to send a delivery again.',
    'webhookId',
    'receiver',
    'deliveryId',
  ],
};

const reactions: Readonly<Record<SubscriberName, string>> = {
  accountMails: 'Mails each person of the account. The same event again mails none.',
  certificates: 'Gets a certificate for every served host that has none.',
  deletions:
    'Takes what is served of the project, or of each project of the account, out of service or back into it, with the work on its domains. It follows what is stored now, so the same event again changes nothing.',
  domains: 'Wakes the job that works on due domains.',
  mail: 'Adds a mail for each person who wants the kind. The same event again adds none.',
  notices: 'Adds a notice for the owners. The same event again adds none.',
  personalMails:
    'Asks for the mail to the person whom the event concerns. The same event again asks for none.',
  primaries:
    'Makes the first live domain of the project its primary one, as long as nobody chose one. The same event again changes nothing.',
  storage: 'Removes the files of the deploy. The same event again changes nothing.',
  requests:
    'Does what a person asked of a webhook: adds the test, and looks for what is to be sent. The same event again adds none.',
  webhooks:
    'Adds a delivery for each webhook of the account that wants the kind, and looks for what is to be sent. The same event again adds none.',
};

export const eventsPage = (): string => {
  const types = Object.keys(subscriptions) as AnyEvent['type'][];
  const rows = types.map((type) => {
    const [when, ...carries] = told[type];
    const { isShown, subscribers } = subscriptions[type];
    return [code(type), when, list(carries), isShown ? 'yes' : 'no', list(subscribers)];
  });
  return page(
    '# Events',
    printed('src/app/subscriptions.ts'),
    'Every event carries `type`, `accountId` and `occurredAt`, and the fields in the table. We store who caused it beside the event: ' +
      '`person:<e-mail>` for the dashboard, `key:<id>` for the API, `operator` for commands, `service` for automatic changes. ' +
      'Ids of animals and orders are decimal digits in text, since they are int64; times are ISO 8601. ' +
      'How an event travels: [architecture](architecture.md#how-an-event-is-delivered).',
    table(['Event', 'When', 'Carries', 'In the audit log', 'Subscribers'], rows),
    '## Subscribers',
    table(
      ['Subscriber', 'What it does'],
      Object.entries(reactions).map(([name, what]) => [code(name), what]),
    ),
  );
};
