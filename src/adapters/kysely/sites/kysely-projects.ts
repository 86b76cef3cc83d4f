import type { Decision } from '../../../kernel/decision.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { Site } from '../../../sites/domain/site.ts';
import {
  projectAccountNotFound,
  projectNotFound,
  slugTaken,
} from '../../../sites/domain/sites-error.ts';
import type { SitesEvent } from '../../../sites/domain/sites-event.ts';
import type { DeployCounts, Projects } from '../../../sites/ports.ts';
import type { Database, Queries } from '../database.ts';
import { AggregateStore } from '../aggregate-store.ts';
import { countDeploys } from './deploy-counts.ts';
import { saveDeploys } from './deploy-rows.ts';
import { refusedAs } from '../engine/failure.ts';
import { alignRoutes } from './project-routes.ts';
import {
  hasDeploy,
  projectColumns,
  projectFrom,
  siteFrom,
  siteOf,
  toRow,
  type SiteRow,
} from './site-rows.ts';
import { fromMillis, toMillis } from '../schema.ts';

type ProjectKey = Parameters<Projects['change']>[0];
export class KyselyProjects extends AggregateStore implements Projects {
  readonly #find = this.database.prepare<{ slug: string }, SiteRow>((db, the) =>
    siteOf(db, the('slug')),
  );

  add(
    accountId: string,
    decide: (current: number) => Decision<Project, SitesEvent>,
  ): Promise<Project> {
    return this.database.transaction(async (db) => {
      if (!(await this.database.lock('accounts', accountId))) {
        throw projectAccountNotFound(accountId);
      }
      const { current } = await db
        .selectFrom('projects')
        .select(({ fn }) => fn.countAll<bigint>().as('current'))
        .where('account_id', '=', accountId)
        .executeTakeFirstOrThrow();
      const { state, events } = decide(Number(current));
      await insertProject(db, state);
      await this.outbox.append(events);
      return state;
    });
  }

  async list(accountId: string): Promise<readonly Project[]> {
    const rows = await this.db
      .selectFrom('projects')
      .select(projectColumns)
      .where('account_id', '=', accountId)
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    return rows.map(projectFrom);
  }

  async find(slug: string): Promise<Site | undefined> {
    return siteFrom(await this.#find({ slug }));
  }

  change(key: ProjectKey, decide: (site: Site) => Decision<Site, SitesEvent>): Promise<Site> {
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

  async #change(
    { accountId, slug }: ProjectKey,
    decide: (site: Site) => Decision<Site, SitesEvent>,
  ): Promise<Site> {
    const rows: readonly SiteRow[] = await siteOf(this.db, slug)
      .where('account_id', '=', accountId)
      .$call(this.database.engine.locked)
      .execute();
    const before = siteFrom(rows);
    if (!before) throw projectNotFound(slug);
    const servedBefore = before.servedDeployId;
    const { state, events } = decide(before);
    if (servedBefore !== undefined && state.servedDeployId === undefined) {
      throw new Error(`${slug} was served and cannot cease to be`);
    }
    await saveDeploys(this.db, before.project.id, rows.filter(hasDeploy), state.deploys);
    const { id, createdAt } = before.project;
    await this.db.updateTable('projects').set(toRow(state)).where('id', '=', id).execute();
    await this.outbox.append(events);
    if (state.servedDeployId === servedBefore) return state;
    // Last in the transaction: it takes the revision row, which all other writers wait for. A deploy removes no route,
    // so the time does not matter.
    await alignRoutes(this.database, id, createdAt);
    return state;
  }

  countDeploys(): Promise<DeployCounts> {
    return countDeploys(this.database);
  }

  async withUploadsSince(before: Date, limit: number): Promise<readonly Project[]> {
    const rows = await this.db
      .selectFrom('deploys')
      .innerJoin('projects', 'projects.id', 'deploys.project_id')
      .select(projectColumns)
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
  const site = { project, deploys: [], servedDeployId: undefined, lastNumber: 0 };
  await refusedAs(db.insertInto('projects').values(toRow(site)).execute(), {
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
