import { earliest } from '../../../kernel/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import { deployStates, type DeployState, type Site } from '../../../sites/domain/site.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { projectNotFound, slugTaken } from '../../../sites/domain/sites-error.ts';
import type { SitesEvent } from '../../../sites/domain/sites-event.ts';
import type { DeployCounts, ProjectKey, Projects } from '../../../sites/ports.ts';
import type { FormerSlug, SiteDecision } from '../../../sites/domain/project-life.ts';
import { keptBytes } from '../../../sites/domain/storage-quota.ts';
import { type Queries, fromMillis, toMillis } from '../database.ts';
import { AggregateStore, firstEndOf } from '../store.ts';
import { refusedAs } from '../engine/failure.ts';
import { alignRoutes } from './project-routes.ts';
import { forgetRowsOf } from '../belongings.ts';
import {
  ofProject,
  projectFrom,
  saveDeploys,
  siteFrom,
  siteOf,
  siteRow,
  type SiteQuery,
  type SiteRow,
} from './site-rows.ts';
import { formerSlugs } from './tables.ts';

type Decide = Parameters<Projects['change']>[1];

export class KyselyProjects extends AggregateStore implements Projects {
  readonly #find = this.database.prepare<{ slug: string }, SiteRow>((db, the) =>
    inService(siteOf(db).where('slug', '=', the('slug'))),
  );

  async add(
    accountId: string,
    decide: (current: number) => Decision<Project, SitesEvent>,
  ): Promise<Project> {
    const lock = async (db: Queries) => {
      await this.lockAccount(accountId);
      return countOf(db, accountId);
    };
    const { state } = await this.changing(lock, decide, async ({ state: project }, db) => {
      const site = { project, servedDeployId: undefined, servedSince: undefined, lastNumber: 0 };
      await refusedAs(db.insertInto('projects').values(siteRow(site)).execute(), {
        duplicate: () => slugTaken(project.slug),
      });
      try {
        await this.#refuseFormer(project);
      } catch (refusal) {
        // Deleted here, because the caller's transaction may continue with another address.
        await db.deleteFrom('projects').where('id', '=', project.id).execute();
        throw refusal;
      }
    });
    return state;
  }

  async list(accountId: string): Promise<readonly Project[]> {
    const rows = await inService(ofAccount(this.db, accountId)).execute();
    return rows.map(projectFrom);
  }

  async listSites(accountId: string): Promise<readonly Site[]> {
    const rows = await inService(siteOf(this.db).where('account_id', '=', accountId)).execute();
    const sites = [...Map.groupBy(rows, (row) => row.project_id).values()];
    return sites.flatMap((one) => siteFrom(one) ?? []).toSorted(oldestFirst);
  }

  async listAll(accountId: string): Promise<readonly Project[]> {
    return (await ofAccount(this.db, accountId).execute()).map(projectFrom);
  }

  async deletedBefore(before: Date, limit: number): Promise<readonly Project[]> {
    const rows = await selectProjects(this.db)
      .where('deleted_at', '<=', toMillis(before))
      .orderBy('deleted_at')
      .limit(limit)
      .execute();
    return rows.map(projectFrom);
  }

  async firstEnd(): Promise<Date | undefined> {
    const slug = await this.db
      .selectFrom('former_slugs')
      .select('until')
      .orderBy('until')
      .limit(1)
      .executeTakeFirst();
    const projectEnd = await firstEndOf(this.db, 'projects');
    return earliest([projectEnd, slug && fromMillis(slug.until)]);
  }

  async accountOf(slug: string): Promise<string | undefined> {
    const own = this.db.selectFrom('projects').select('account_id').where('slug', '=', slug);
    const former = this.db
      .selectFrom('former_slugs')
      .innerJoin('projects', 'projects.id', 'former_slugs.project_id')
      .select('projects.account_id')
      .where('former_slugs.slug', '=', slug);
    const row = (await own.executeTakeFirst()) ?? (await former.executeTakeFirst());
    return row?.account_id;
  }

  async find(slug: string): Promise<Site | undefined> {
    const found = siteFrom(await this.#find({ slug }));
    const present = found ? undefined : await presentSlug(this.db, slug);
    return present === undefined ? found : siteFrom(await this.#find({ slug: present }));
  }

  change(key: ProjectKey, decide: Decide): Promise<Site> {
    const lock = async (db: Queries) => ({ site: await this.#lock(key, inService(siteOf(db))) });
    return this.#change(lock, ({ site }) => decide(site));
  }

  changeKept(
    key: ProjectKey,
    decide: (site: Site, elsewhere: number) => Decision<Site, SitesEvent>,
  ): Promise<Site> {
    const lock = async (db: Queries) => {
      await this.database.lock('accounts', key.accountId);
      const site = await this.#lock(key, inService(siteOf(db)));
      return { site, all: await this.keptBytes(key.accountId) };
    };
    return this.#change(lock, ({ site, all }) => decide(site, all - keptBytes(site)));
  }

  async keptBytes(accountId: string): Promise<number> {
    const { db, engine } = this.database;
    const { bytes } = await db
      .selectFrom('projects')
      .innerJoin('deploys', 'deploys.project_id', 'projects.id')
      .select(engine.sum('bytes').as('bytes'))
      .where('account_id', '=', accountId)
      .where('state', '=', 'succeeded')
      .executeTakeFirstOrThrow();
    return Number(bytes ?? 0);
  }

  restore(
    key: ProjectKey,
    decide: (site: Site, current: number) => Decision<Site, SitesEvent>,
  ): Promise<Site> {
    const lock = async (db: Queries) => {
      await this.lockAccount(key.accountId);
      const current = await countOf(db, key.accountId);
      const site = await this.#lock(key, siteOf(db).where('deleted_at', 'is not', null));
      return { site, current };
    };
    return this.#change(lock, ({ site, current }) => decide(site, current));
  }

  async end(
    projectId: string,
    now: Date,
    decide: (site: Site) => readonly SitesEvent[],
  ): Promise<void> {
    await forgetRowsOf(this.database, 'projects', [projectId], ['deploys']);
    const lock = async (db: Queries) => {
      const rows = siteOf(db).where('projects.id', '=', projectId);
      return siteFrom(await rows.$call(this.database.engine.locked).execute());
    };
    await this.changing(
      lock,
      (site) => site && { events: decide(site) },
      async (_decision, db) => {
        await alignRoutes(this.database, projectId, now);
        await db.deleteFrom('deploys').where('project_id', '=', projectId).execute();
        await db.deleteFrom('projects').where('id', '=', projectId).execute();
      },
    );
  }

  async freeSlugs(now: Date, limit: number): Promise<number> {
    const ended = await this.db
      .selectFrom('former_slugs')
      .selectAll()
      .where('until', '<=', toMillis(now))
      .orderBy('until')
      .limit(limit)
      .execute();
    for (const { slug, project_id } of ended) {
      await this.database.transaction(async (db) => {
        await this.database.lock('projects', project_id);
        await db.deleteFrom('former_slugs').where('slug', '=', slug).execute();
        await alignRoutes(this.database, project_id, now);
      });
    }
    return ended.length;
  }

  async #change<Locked extends { readonly site: Site }>(
    lock: (db: Queries) => Promise<Locked>,
    decide: (locked: Locked) => SiteDecision,
  ): Promise<Site> {
    const { state } = await this.changing(lock, decide, (decision, db, { site }) =>
      this.#save(db, site, decision),
    );
    return state;
  }

  async #lock({ accountId, slug }: ProjectKey, query: SiteQuery): Promise<Site> {
    const lock = async (present: string) => {
      const rows = query.where('slug', '=', present).where('account_id', '=', accountId);
      return siteFrom(await rows.$call(this.database.engine.locked).execute());
    };
    const site = await lock(slug);
    const present = site ? undefined : await presentSlug(this.db, slug);
    const found = present === undefined ? site : await lock(present);
    if (!found) throw projectNotFound(slug);
    return found;
  }

  /**
   * Call it after writing the project's row: from then on nobody else can give up the address.
   * @throws DomainError `slug_taken`
   */
  async #refuseFormer({ slug }: Project): Promise<void> {
    const former = await this.db
      .selectFrom('former_slugs')
      .select('slug')
      .where('slug', '=', slug)
      .$call(this.database.engine.locked)
      .executeTakeFirst();
    if (former) throw slugTaken(slug);
  }

  async #giveUp(db: Queries, former: FormerSlug, { id: projectId, slug }: Project): Promise<void> {
    // A project may return to one of its former addresses.
    await db
      .deleteFrom('former_slugs')
      .where('slug', '=', slug)
      .where('project_id', '=', projectId)
      .execute();
    const row = formerSlugs.write({ ...former, projectId });
    await db.insertInto('former_slugs').values(row).execute();
  }

  async #save(
    db: Queries,
    before: Site,
    { state: after, events, former }: SiteDecision,
  ): Promise<void> {
    const { id, createdAt } = before.project;
    await saveDeploys(db, before, after.deploys);
    if (former) await this.#giveUp(db, former, after.project);
    await refusedAs(db.updateTable('projects').set(siteRow(after)).where('id', '=', id).execute(), {
      duplicate: () => slugTaken(after.project.slug),
    });
    if (former) await this.#refuseFormer(after.project);
    // This comes last, because all other writers wait for the revision.
    await alignRoutes(this.database, id, events.at(-1)?.occurredAt ?? createdAt);
  }

  /** Reads every deploy, which is cheap because projects limit their number. */
  async countDeploys(): Promise<DeployCounts> {
    const { db, engine } = this.database;
    const rows = await db
      .selectFrom('deploys')
      .select(({ fn }) => ['state', fn.countAll<bigint>().as('count')])
      .select(engine.sum('bytes').as('bytes'))
      .groupBy('state')
      .execute();
    const found = new Map<string, (typeof rows)[number]>(rows.map((row) => [row.state, row]));
    const counts = deployStates.map((state) => [state, Number(found.get(state)?.count ?? 0n)]);
    return {
      byState: Object.fromEntries(counts) as Record<DeployState, number>,
      keptBytes: Number(found.get('succeeded')?.bytes ?? 0n),
    };
  }

  async withUploadsSince(before: Date, limit: number): Promise<readonly Project[]> {
    const rows = await selectProjects(this.db)
      .innerJoin('deploys', 'projects.id', 'deploys.project_id')
      .distinct()
      .where('state', '=', 'uploading')
      .where('started_at', '<', toMillis(before))
      .limit(limit)
      .execute();
    return rows.map(projectFrom);
  }

  async oldestUpload(): Promise<Date | undefined> {
    const oldest = await this.db
      .selectFrom('deploys')
      .select('started_at')
      .where('state', '=', 'uploading')
      .orderBy('started_at')
      .limit(1)
      .executeTakeFirst();
    return oldest && fromMillis(oldest.started_at);
  }
}

const oldestFirst = ({ project: one }: Site, { project: other }: Site): number =>
  one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1);

const selectProjects = (db: Queries) =>
  db.selectFrom('projects').select(ofProject.names.map((name) => `projects.${name}` as const));

const ofAccount = (db: Queries, accountId: string) =>
  selectProjects(db)
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('projects.id');

/** Selects projects that are not deleted and whose account is not deleted. */
const inService = <Query extends SiteQuery | ReturnType<typeof ofAccount>>(query: Query): Query =>
  (query as SiteQuery)
    .where('projects.deleted_at', 'is', null)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('accounts')
            .select('accounts.id')
            .whereRef('accounts.id', '=', 'projects.account_id')
            .where('accounts.deleted_at', 'is not', null),
        ),
      ),
    ) as Query;

/** The current slug of the project that had this slug before. */
const presentSlug = async (db: Queries, former: string): Promise<string | undefined> => {
  const row = await db
    .selectFrom('former_slugs')
    .innerJoin('projects', 'projects.id', 'former_slugs.project_id')
    .select('projects.slug')
    .where('former_slugs.slug', '=', former)
    .executeTakeFirst();
  return row?.slug;
};

const countOf = async (db: Queries, accountId: string): Promise<number> => {
  const { current } = await db
    .selectFrom('projects')
    .select(({ fn }) => fn.countAll<bigint>().as('current'))
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(current);
};
