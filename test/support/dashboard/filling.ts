import { basename } from 'node:path';
import { settle, type Outcome } from '../../../src/notifications/domain/webhook-delivery.ts';
import {
  WebhookCallsKey,
  DomainsKey,
  AccessKey,
  CatalogueKey,
  QueuesKey,
  SitesKey,
} from '../../../src/app/keys.ts';
import { ownersKinds, kinds } from '../../../src/notifications/domain/kinds.ts';
import { ping } from '../../../src/notifications/domain/payload.ts';
import type { Webhook } from '../../../src/notifications/domain/webhook.ts';
import { WebhookDeliveries } from '../../../src/notifications/webhook-ports.ts';
import { allDue } from '../webhooks/stored-webhook.ts';
import type { Owner, RunningDashboard } from './running-dashboard.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { facts, records } from '../domains/known-dns.ts';
import { banApiKey } from '../../../src/access/domain/api-key.ts';
import { ApiKeys, usageOutcomes, UsageLog } from '../../../src/access/ports.ts';
import { deployEntries } from '../sites/deploy-entries.ts';
import type { NotificationContent } from '../../../src/notifications/domain/notification.ts';
import { Notices } from '../../../src/notifications/ports.ts';
import { everyKind } from '../notifications.ts';
import { entry } from '../sites/sites.ts';

export const answered = (status: number, beginning: string): Outcome => ({
  kind: 'answered',
  status,
  beginning,
  tookMs: status === 200 ? 38 : 1204,
});

/** Stores this outcome for each delivery that is due at that time. */
export const attemptAll = async (
  { container, clock }: RunningDashboard,
  outcome: Outcome,
  now = clock.now(),
): Promise<void> => {
  const deliveries = container.get(WebhookDeliveries);
  const claim = (isSlow: boolean) =>
    deliveries.claim(now, new Date(now.getTime() + 60_000), { ...allDue, isSlow });
  for (const one of [...(await claim(false)), ...(await claim(true))]) {
    const attempt = { ...outcome, at: now };
    await deliveries.settle(one, attempt, (current) =>
      settle(current, attempt, { address: one.webhook?.address, chance: 0 }),
    );
  }
};

/** Adds a delivery that is due now. */
export const addPing = async (
  { container, clock }: RunningDashboard,
  webhook: Webhook,
  id: string,
): Promise<void> => {
  const body = ping(webhook, clock.now());
  const message = { accountId: webhook.accountId, id, type: body.type, body: JSON.stringify(body) };
  await container.get(WebhookDeliveries).add(message, [webhook], clock.now());
};

/**
 * Adds webhooks in every state. The first one has deliveries in every state.
 * @param text the answer of receivers
 * @returns the path of the first webhook
 */
const fillWebhooks = async (
  dashboard: RunningDashboard,
  { accountId }: Owner,
  text: string,
): Promise<string> => {
  const calls = dashboard.container.get(WebhookCallsKey);
  const make = async (path: string, kinds: readonly string[] = ownersKinds) =>
    (await calls.addWebhook(accountId, { address: `https://hooks.zoo.test/${path}`, kinds }))
      .webhook;
  const of = ({ id: webhookId }: Webhook) => ({ accountId, webhookId });
  const [off, failing] = [await make('off', ['key.banned']), await make(`failing?${text}`)];
  await calls.switchWebhookOff(of(off));
  let messages = 0;
  const next = () => `evt_${accountId.slice(-20)}_ping_${(messages += 1)}`;
  const send = async (outcome: Outcome) => {
    await addPing(dashboard, failing, next());
    await attemptAll(dashboard, outcome);
  };
  await send(answered(200, text));
  await send(answered(500, text.repeat(9)));
  await send({ kind: 'failed', why: 'timeout', explanation: text, tookMs: 10_000 });
  await calls.rotateWebhookSecret(of(failing), '24h');
  await make('new');
  await addPing(dashboard, failing, next());
  return `/dashboard/webhooks/${failing.id}`;
};

const platformHost = 'sites.animal-store.test';

/** Creates the DNS records that the owner was asked for. */
export const pointAtUs = (
  { dns }: Pick<RunningDashboard, 'dns'>,
  { host, token, registrableDomain }: CustomDomain,
  more: Partial<ResolverFacts> = {},
): void => {
  const target = `${token}.${platformHost}`;
  const route = {
    cname: records(target),
    chain: { names: [target], end: 'reached' as const },
    a: records('127.0.0.1'),
    zone: { name: registrableDomain, nameServers: ['ada.ns.cloudflare.com'] },
  };
  dns.tell(host, facts({ ...route, ...more }));
};

/**
 * Adds a domain in each state, with and without problems, and redirects between them.
 * @param zone contains the domains, so that two accounts can have different ones
 */
const fillDomains = async (
  dashboard: RunningDashboard,
  project: Project,
  zone: string,
): Promise<void> => {
  const domains = dashboard.container.get(DomainsKey);
  const add = (name: string) => domains.addDomain(project, `${name}${zone}`);
  const verified = async (domain: CustomDomain) => {
    pointAtUs(dashboard, domain);
    return domains.verifyDomain(domain);
  };
  const live = async (name: string) => domains.tendDomain(await verified(await add(name)));

  await live('www.');
  await live('shop.');
  await domains.makeShare(await verified(await add('soon.')));
  const wrong = await add('wrong.');
  dashboard.dns.tell(wrong.host, facts({ cname: records('elsewhere.test'), a: hostileAddress }), {
    '192.0.2.2': facts({ txt: records('"><img src=x onerror=alert(1)>') }),
  });
  await domains.verifyDomain(wrong);
  await add('');
  await domains.removeDomain(await add('gone.'));
  await domains.changeDomainSettings(project.id, {
    primary: `www.${zone}`,
    redirects: [
      { from: `soon.${zone}`, to: `https://elsewhere.test/${'shop/'.repeat(40)}`, status: 302 },
      { from: `shop.${zone}`, to: `www.${zone}`, status: 308 },
    ],
  });
};

const hostileAddress = records('<script>alert(1)</script>');

/** Markup that would run anywhere on a page if it were not escaped. */
export const hostile = `'"></title></textarea><script>alert(1)</script><img src=x onerror=alert(1)>`;

/** Gives an account data of every kind, so that no page is empty. Names are hostile. @returns the project's slug */
export const fill = async (
  dashboard: RunningDashboard,
  owner: Owner,
  zone: string,
): Promise<string> => {
  const slug = await fillProjects(dashboard, owner, zone);
  await fillKeys(dashboard, owner);
  await fillAnimals(dashboard, owner);
  await fillPeople(dashboard, owner);
  const webhook = await fillWebhooks(dashboard, owner, hostile);
  // Deliveries would start work on domains, which would continue during the tests.
  const { domains, events } = dashboard.container.get(QueuesKey);
  await domains.stop();
  await events.run();
  const host = { project: slug, host: `www.${zone}`, name: hostile };
  await fillNotices(dashboard, owner, everyKind(host, basename(webhook)));
  return slug;
};

const fillNotices = async (
  { container, clock }: RunningDashboard,
  { accountId }: Owner,
  all: readonly NotificationContent[],
): Promise<void> => {
  for (const [n, told] of all.filter(({ kind }) => kinds[kind].to === 'owners').entries()) {
    const notice = { ...told, id: `evt_${accountId.slice(-20)}_${n}`, accountId };
    await container.get(Notices).add({ ...notice, occurredAt: clock.now() });
  }
};

const fillProjects = async (
  dashboard: RunningDashboard,
  { accountId }: Owner,
  zone: string,
): Promise<string> => {
  const sites = dashboard.container.get(SitesKey);
  const project = await sites.startProject(accountId, hostile);
  const index = entry('index.html');
  await deployEntries(dashboard.container, project, index);
  await deployEntries(dashboard.container, project, entry(`../${hostile}`));
  await deployEntries(dashboard.container, project, index, entry('<b>.html'));
  await fillDomains(dashboard, project, zone);
  await sites.startProject(accountId, 'Not published yet');
  return project.slug;
};

const fillKeys = async ({ container, clock }: RunningDashboard, { accountId }: Owner) => {
  const access = container.get(AccessKey);
  const make = (expiresAt?: Date) =>
    access.createApiKey({ accountId, name: hostile, ...(expiresAt && { expiresAt }) });
  const now = clock.now();
  const used = await make(new Date(now.getTime() + 86_400_000));
  await access.rotateApiKey(used.id, '24h');
  await access.revokeApiKey((await make()).id);
  const banned = await make();
  await container.get(ApiKeys).change(banned.id, (key) => banApiKey(key, now));
  const hours = Array.from({ length: 30 }, (_, ago) => ({
    accountId,
    keyId: used.id,
    operation: ago % 3 === 0 ? 'getPet' : 'listPets',
    outcome: usageOutcomes[ago % usageOutcomes.length]!,
    hour: new Date((Math.floor(now.getTime() / 3_600_000) - ago) * 3_600_000),
    requests: 1000 - ago * 7,
  }));
  await container.get(UsageLog).add(hours, new Map([[used.id, now]]));
};

const fillAnimals = async ({ container }: RunningDashboard, { accountId }: Owner) => {
  const catalogue = container.get(CatalogueKey);
  const add = async () => {
    const draft = { name: hostile, categoryId: 9007199254740993n, status: 'available' } as const;
    return (await catalogue.createPet(accountId, draft)).id;
  };
  const sell = async (...steps: readonly ('approve' | 'deliver')[]) => {
    const { id } = await catalogue.placeOrder(accountId, await add(), { quantity: 2 });
    for (const step of steps) await catalogue.changeOrder(accountId, id, step);
  };
  for (let i = 0; i < 51; i++) await add();
  await catalogue.changePet(accountId, await add(), 'reserve');
  await sell();
  await sell('approve');
  await sell('approve', 'deliver');
};

const fillPeople = async (dashboard: RunningDashboard, { accountId, email }: Owner) => {
  const access = dashboard.container.get(AccessKey);
  await access.invite(accountId, `o'${accountId.slice(-4)}&amp=#{x}@zoo.example`);
  await dashboard.signIn(email, hostile);
};
