import { basename } from 'node:path';
import { banApiKey } from '../../../src/access/domain/api-key.ts';
import { ApiKeys, usageOutcomes, UsageLog } from '../../../src/access/ports.ts';
import { AccessKey, CatalogueKey, QueuesKey, SitesKey } from '../../../src/app/keys.ts';
import { fillDomains } from './domains.ts';
import { fillWebhooks } from './webhooks.ts';
import type { Owner, RunningDashboard } from './running-dashboard.ts';
import { deployEntries } from '../sites/deploy-entries.ts';
import { kinds } from '../../../src/notifications/domain/kinds.ts';
import type { Told } from '../../../src/notifications/domain/notification.ts';
import { Notices } from '../../../src/notifications/ports.ts';
import { everyKind } from '../notifications.ts';
import { entry } from '../sites/site-source.ts';

/** Markup that would run anywhere on a page if it were not escaped. */
export const hostile = `'"></title></textarea><script>alert(1)</script><img src=x onerror=alert(1)>`;

/** Gives an account some of everything, so that no page is empty; names are hostile. @returns the project's slug */
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
  // Deliveries would start work on domains that continues during the tests.
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
  all: readonly Told[],
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
    ...{ accountId, keyId: used.id, operation: ago % 3 === 0 ? 'getPet' : 'listPets' },
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
