import { isDeepStrictEqual } from 'node:util';
import type { Selectable } from 'kysely';
import type { Decision } from '../../../kernel/decision.ts';
import {
  deployStates,
  type DeployState,
  type Deploy,
  type Site,
} from '../../../sites/domain/site.ts';
import type { Project } from '../../../sites/domain/project.ts';
import {
  projectAccountNotFound,
  projectNotFound,
  slugTaken,
} from '../../../sites/domain/sites-error.ts';
import type { SitesEvent } from '../../../sites/domain/sites-event.ts';
import type { DeployCounts, Projects } from '../../../sites/ports.ts';
import type { Database, Queries } from '../database.ts';
import { AggregateStore } from '../store.ts';
import { refusedAs } from '../engine/failure.ts';
import { fromMillis, toMillis, type Schema } from '../schema.ts';
import { present } from '../table.ts';
import { alignRoutes } from './project-routes.ts';
import { deploys, projects } from './tables.ts';

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
    const { state } = await this.changing(lock, decide, (decision, db, before) =>
      this.#save(db, before, decision),
    );
    return state;
  }

  async #save(
    db: Queries,
    before: Site,
    { state: after, events }: Decision<Site, SitesEvent>,
  ): Promise<void> {
    const { id, slug, createdAt } = before.project;
    if (before.servedDeployId !== undefined && after.servedDeployId === undefined) {
      throw new Error(`${slug} was served and cannot cease to be`);
    }
    await saveDeploys(db, before, after.deploys);
    await db.updateTable('projects').set(siteRow(after)).where('id', '=', id).execute();
    const isSame = after.servedDeployId === before.servedDeployId;
    if (isSame && isDeepStrictEqual(succeededIn(before), succeededIn(after))) return;
    // Last, since it takes the revision row, which all other writers wait for.
    await alignRoutes(this.database, id, events.at(-1)?.occurredAt ?? createdAt);
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

/** Each of them is served at an address of its own. */
const succeededIn = ({ deploys }: Site): readonly string[] =>
  deploys.filter(({ state }) => state === 'succeeded').map(({ id }) => id);

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

type ProjectRow = Omit<Parameters<typeof ofSite.read>[0], 'id'> & { readonly project_id: string };
type DeployRow = Selectable<Schema['deploys']>;
/** A project beside each of its deploys, or beside nothing. */
export type SiteRow = ProjectRow & {
  readonly [Column in keyof Omit<DeployRow, 'project_id'>]: DeployRow[Column] | null;
};

const ofSite = projects.without('domainSettings');
const ofProject = ofSite.without('servedDeployId', 'lastNumber');
const ofDeploy = deploys.without('id', 'projectId');

/** One query, so that the project and its deploys are from the same moment. */
const siteOf = (db: Queries, slug: string) =>
  db
    .selectFrom('projects')
    .leftJoin('deploys', 'deploys.project_id', 'projects.id')
    .select(ofSite.without('id').names)
    .select(['projects.id as project_id', 'deploys.id'])
    .select(ofDeploy.names)
    .where('slug', '=', slug)
    .orderBy('number', 'desc');

const selectProjects = (db: Queries) =>
  db.selectFrom('projects').select(ofProject.names.map((name) => `projects.${name}` as const));

const projectFrom: (row: Parameters<typeof ofProject.read>[0]) => Project = ofProject.read;

const hasDeploy = (row: SiteRow): row is SiteRow & DeployRow => row.id !== null;

const siteFrom = (rows: readonly SiteRow[]): Site | undefined => {
  const [first] = rows;
  if (!first) return undefined;
  const { servedDeployId, lastNumber, ...project } = ofSite.read({
    ...first,
    id: first.project_id,
  });
  return { project, deploys: rows.filter(hasDeploy).map(deployFrom), servedDeployId, lastNumber };
};

/** Deploys have rows of their own. */
const siteRow = ({ project, servedDeployId, lastNumber }: Omit<Site, 'deploys'>) =>
  projects.write({ ...project, servedDeployId, lastNumber });

/** Saves the differences; the caller holds the lock on the project. */
const saveDeploys = async (db: Queries, before: Site, wanted: readonly Deploy[]): Promise<void> => {
  const kept = new Set(wanted.map(({ id }) => id));
  const dropped = before.deploys.map(({ id }) => id).filter((id) => !kept.has(id));
  if (dropped.length > 0) await db.deleteFrom('deploys').where('id', 'in', dropped).execute();
  for (const deploy of wanted) {
    const row = deployRow(before.project.id, deploy);
    const old = before.deploys.find(({ id }) => id === deploy.id);
    if (!old) await db.insertInto('deploys').values(row).execute();
    else if (!isDeepStrictEqual(old, deploy))
      await db.updateTable('deploys').set(row).where('id', '=', row.id).execute();
  }
};

const deployFrom = (row: DeployRow): Deploy => {
  const { id, number, madeBy, message, startedAt, state, ...result } = deploys.read(row);
  const identity = { id, number, madeBy, message, startedAt };
  switch (state) {
    case 'uploading':
      return { ...identity, state };
    case 'succeeded':
      return {
        ...identity,
        state,
        finishedAt: present('finished_at', result.finishedAt),
        files: present('files', result.files),
        bytes: present('bytes', result.bytes),
      };
    case 'failed':
      return {
        ...identity,
        state,
        finishedAt: present('finished_at', result.finishedAt),
        problem: present('problem', result.problem),
        explanation: present('explanation', result.explanation),
      };
  }
};

const blank = {
  finishedAt: undefined,
  files: undefined,
  bytes: undefined,
  problem: undefined,
  explanation: undefined,
};

const deployRow = (projectId: string, deploy: Deploy): DeployRow =>
  deploys.write({ projectId, ...blank, ...deploy });
