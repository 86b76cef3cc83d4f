import type { Selectable } from 'kysely';
import type { Decision } from '../../../kernel/decision.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { Site } from '../../../sites/domain/site.ts';
import {
  projectAccountNotFound,
  projectNotFound,
  slugTaken,
} from '../../../sites/domain/sites-error.ts';
import type { SitesEvent } from '../../../sites/domain/sites-event.ts';
import type { Projects } from '../../../sites/ports.ts';
import { lockedRow } from '../locked-row.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import type { Database, Queries } from '../database.ts';
import { TellingStore } from '../telling-store.ts';
import { deployFrom, saveDeploys, type DeployRow } from './deploy-rows.ts';
import { refusedAs } from '../engine/failure.ts';
import { alignRoutes } from './project-routes.ts';
import { fromMillis, toMillis, type RowOf, type Schema } from '../schema.ts';

type ProjectKey = Parameters<Projects['change']>[0];
type ProjectRow = Omit<
  Selectable<Schema['projects']>,
  'id' | 'served_deploy_id' | 'last_number' | 'domain_settings'
> & {
  readonly project_id: string;
};
/** A project beside each of its deploys, or beside nothing. */
type SiteRow = ProjectRow &
  Pick<Selectable<Schema['projects']>, 'served_deploy_id' | 'last_number'> & {
    readonly [Column in keyof Omit<DeployRow, 'project_id'>]: DeployRow[Column] | null;
  };

const projectColumns = [
  'projects.id as project_id',
  'account_id',
  'name',
  'slug',
  'created_at',
] as const;

export class KyselyProjects extends TellingStore implements Projects {
  readonly #find = this.database.prepare<{ slug: string }, SiteRow>((db, the) =>
    siteOf(db, the('slug')),
  );

  add(
    accountId: string,
    decide: (current: number) => Decision<Project, SitesEvent>,
  ): Promise<Project> {
    return this.database.transaction(async (db) => {
      if (!(await lockedRow(this.database, 'accounts', accountId))) {
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
      await lockedRow(this.database, 'accounts', key.accountId);
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

/** One query, so that the project and its deploys are from the same moment. */
const siteOf = (db: Queries, slug: string) =>
  db
    .selectFrom('projects')
    .leftJoin('deploys', 'deploys.project_id', 'projects.id')
    .select([...projectColumns, 'served_deploy_id', 'last_number'])
    .select(['deploys.id', 'number', 'state', 'started_at', 'finished_at'])
    .select(['files', 'bytes', 'problem', 'explanation'])
    .where('slug', '=', slug)
    .orderBy('number', 'desc');

const hasDeploy = (row: SiteRow): row is SiteRow & DeployRow => row.id !== null;

const siteFrom = (rows: readonly SiteRow[]): Site | undefined => {
  const [first] = rows;
  return (
    first && {
      project: projectFrom(first),
      deploys: rows.filter(hasDeploy).map(deployFrom),
      servedDeployId: first.served_deploy_id ?? undefined,
      lastNumber: Number(first.last_number),
    }
  );
};

/** Deploys have rows of their own. */
const toRow = ({ project, servedDeployId, lastNumber }: Site) => {
  const { id, accountId, name, slug, createdAt } = project;
  return {
    ...{ id, account_id: accountId, name, slug },
    created_at: toMillis(createdAt),
    served_deploy_id: servedDeployId ?? null,
    last_number: BigInt(lastNumber),
  } satisfies RowOf<Project> & RowOf<Omit<Site, 'project' | 'deploys'>>;
};

const projectFrom = ({ project_id, account_id, name, slug, created_at }: ProjectRow): Project =>
  ({
    id: project_id,
    accountId: account_id,
    name,
    slug,
    createdAt: fromMillis(created_at),
  }) satisfies EveryField<Project>;
