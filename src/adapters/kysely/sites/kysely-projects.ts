import type { Decision } from '../../../kernel/decision.ts';
import { deployStates, type DeployState, type Site } from '../../../sites/domain/site.ts';
import type { Project } from '../../../sites/domain/project.ts';
import {
  projectAccountNotFound,
  projectNotFound,
  slugTaken,
} from '../../../sites/domain/sites-error.ts';
import type { SitesEvent } from '../../../sites/domain/sites-event.ts';
import type { DeployCounts, Projects } from '../../../sites/ports.ts';
import type { Database, Queries } from '../database.ts';
import { AggregateStore } from '../aggregate-store.ts';
import { refusedAs } from '../engine/failure.ts';
import { fromMillis, toMillis } from '../schema.ts';
import { alignRoutes } from './project-routes.ts';
import {
  projectFrom,
  saveDeploys,
  selectProjects,
  siteFrom,
  siteOf,
  siteRow,
  type SiteRow,
} from './site-rows.ts';

type ProjectKey = Parameters<Projects['change']>[0];
type Decide = Parameters<Projects['change']>[1];

export class KyselyProjects extends AggregateStore implements Projects {
  readonly #find = this.database.prepare<{ slug: string }, SiteRow>((db, the) =>
    siteOf(db, the('slug')),
  );

  async add(
    accountId: string,
    decide: (current: number) => Decision<Project, SitesEvent>,
  ): Promise<Project> {
    const { state } = await this.store(async (db) => {
      if (!(await this.database.lock('accounts', accountId))) {
        throw projectAccountNotFound(accountId);
      }
      const { current } = await db
        .selectFrom('projects')
        .select(({ fn }) => fn.countAll<bigint>().as('current'))
        .where('account_id', '=', accountId)
        .executeTakeFirstOrThrow();
      const decision = decide(Number(current));
      await insertProject(db, decision.state);
      return decision;
    });
    return state;
  }

  async list(accountId: string): Promise<readonly Project[]> {
    const rows = await selectProjects(this.db)
      .where('account_id', '=', accountId)
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    return rows.map(projectFrom);
  }

  async find(slug: string): Promise<Site | undefined> {
    return siteFrom(await this.#find({ slug }));
  }

  change(key: ProjectKey, decide: Decide): Promise<Site> {
    return this.database.transaction(() => this.#change(key, decide));
  }

  changeKept(
    key: ProjectKey,
    decide: (site: Site, elsewhere: number) => Decision<Site, SitesEvent>,
  ): Promise<Site> {
    return this.database.transaction(async () => {
      await this.database.lock('accounts', key.accountId);
      const elsewhere = await keptBytesOf(this.database, key.accountId, key.slug);
      return this.#change(key, (site) => decide(site, elsewhere));
    });
  }

  keptBytes(accountId: string): Promise<number> {
    return keptBytesOf(this.database, accountId);
  }

  async #change({ accountId, slug }: ProjectKey, decide: Decide): Promise<Site> {
    const lock = async (db: Queries) => {
      const rows = siteOf(db, slug).where('account_id', '=', accountId);
      const site = siteFrom(await rows.$call(this.database.engine.locked).execute());
      if (!site) throw projectNotFound(slug);
      return site;
    };
    const { state } = await this.changing(lock, decide, ({ state }, db, before) =>
      this.#save(db, before, state),
    );
    return state;
  }

  async #save(db: Queries, before: Site, after: Site): Promise<void> {
    const { id, slug, createdAt } = before.project;
    if (before.servedDeployId !== undefined && after.servedDeployId === undefined) {
      throw new Error(`${slug} was served and cannot cease to be`);
    }
    await saveDeploys(db, before, after.deploys);
    await db.updateTable('projects').set(siteRow(after)).where('id', '=', id).execute();
    if (after.servedDeployId === before.servedDeployId) return;
    // Last, since it takes the revision row, which all other writers wait for. A deploy removes no route, so the time does
    // not matter.
    await alignRoutes(this.database, id, createdAt);
  }

  /** Reads every deploy; their number is limited by the projects. */
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

const insertProject = async (db: Queries, project: Project): Promise<void> => {
  const site = { project, servedDeployId: undefined, lastNumber: 0 };
  await refusedAs(db.insertInto('projects').values(siteRow(site)).execute(), {
    duplicate: () => slugTaken(project.slug),
  });
};

/** @param without the slug of a project that is left out */
const keptBytesOf = async (
  database: Database,
  accountId: string,
  without?: string,
): Promise<number> => {
  const { bytes } = await database.db
    .selectFrom('projects')
    .innerJoin('deploys', 'deploys.project_id', 'projects.id')
    .select(database.engine.sum('bytes').as('bytes'))
    .where('account_id', '=', accountId)
    .where('state', '=', 'succeeded')
    .$if(without !== undefined, (query) => query.where('slug', '!=', without ?? ''))
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
};
