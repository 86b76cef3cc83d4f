import pino from 'pino';
import { customDomainRow } from '../src/adapters/kysely/sites/custom-domain-rows.ts';
import { Database } from '../src/adapters/kysely/database.ts';
import { loadConfig } from '../src/app/settings/config.ts';
import { openContainer } from '../src/app/container.ts';
import { Ids } from '../src/kernel/ids.ts';
import { addDomain } from '../src/domains/domain/attachment/custom-domain.ts';
import { createProject } from '../src/sites/domain/project.ts';
import { Projects } from '../src/sites/ports.ts';

const atOnce = 500;
const hour = 3_600_000;
const allowance = { plan: 'Bench', hasWildcards: false };
const facts = {
  ...{ hasSucceededDeploy: true, provenElsewhere: undefined, attachedTo: undefined },
  ...{ current: 0, addedLately: [] },
};

interface DueDomains {
  readonly accountId: string;
  readonly count: number;
  readonly dueAt: Date;
  /** Of the project. Its domains are `www.shop-0.<slug>.example` and so on. */
  readonly slug?: string;
}

/** Domains of one project that were added a while ago and are due together, at that moment. */
export const seedDomains = async (
  environment: Readonly<Record<string, string>>,
  { accountId, count, dueAt, slug = 'shops' }: DueDomains,
): Promise<void> => {
  const registrableDomain = `${slug}.example`;
  const container = await openContainer(loadConfig(environment), pino({ level: 'silent' }));
  try {
    const [ids, database] = [container.get(Ids), container.get(Database)];
    // Long enough ago that the next check after the one that is measured is an hour away.
    const moment = { now: new Date(dueAt.getTime() - 12 * hour), jitter: 0 };
    const draft = { id: ids.next('proj'), accountId, name: slug, slug };
    await container.get(Projects).add(draft.accountId, () => createProject(draft, moment.now));
    const dueDomain = (number: number) => {
      const host = `www.shop-${String(number)}.${registrableDomain}`;
      const hostname = {
        host,
        unicode: host,
        labels: `www.shop-${String(number)}`,
        registrableDomain,
        isApex: false,
      };
      const [id, token] = [ids.next('dom'), `token-${slug}-${String(number)}`];
      const added = addDomain(
        { id, accountId, projectId: draft.id, token, hostname },
        { ...facts, allowance: { ...allowance, domains: count, domainsAddedPerHour: count } },
        moment,
      ).state;
      return customDomainRow({ ...added, dns: { ...added.dns, nextCheckAt: dueAt } });
    };
    for (let first = 0; first < count; first += atOnce) {
      const rows = Array.from({ length: Math.min(atOnce, count - first) }, (_, n) =>
        dueDomain(first + n),
      );
      await database.transaction((db) => db.insertInto('domains').values(rows).execute());
    }
  } finally {
    await container.unbindAllAsync();
  }
};

/** How many were not checked since. */
export const unchecked = async (database: Database, dueAt: Date): Promise<number> => {
  const { left } = await database.run((db) =>
    db
      .selectFrom('domains')
      .select((eb) => eb.fn.countAll<bigint>().as('left'))
      .where('due_at', '<=', BigInt(dueAt.getTime()))
      .executeTakeFirstOrThrow(),
  );
  return Number(left);
};
