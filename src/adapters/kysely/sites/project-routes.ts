import type { Selectable } from 'kysely';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { projectHostsOf, type ProjectHost } from '../../../domains/domain/attachment/serving.ts';
import {
  noDomainSettings,
  type DomainSettings,
} from '../../../domains/domain/redirects/settings.ts';
import { routesOf, type Route } from '../../../domains/domain/redirects/redirects.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import { projectNotFound } from '../../../sites/domain/sites-error.ts';
import type { DomainsEvent } from '../../../domains/domain/domains-event.ts';
import type { ProjectSettings, SettingsFacts } from '../../../domains/ports.ts';
import type { Queries, Database, Schema } from '../database.ts';
import { Store, AggregateStore, insertMany } from '../store.ts';
import { present } from '../table.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { edgeRevision, projects, routes } from './tables.ts';
import { customDomainFrom } from './custom-domain-rows.ts';
import { withheldOf } from './domain-facts.ts';

/**
 * Locks the revision until the transaction ends, so that revisions are committed in order and a reader of one sees all
 * earlier ones. Other writers wait, so call it late.
 * @param count number of changes, each with its own revision; the last one is returned
 */
export const nextEdgeRevision = async (db: Queries, count = 1): Promise<bigint> => {
  await db
    .updateTable('edge_revision')
    .set(({ eb }) => ({ revision: eb('revision', '+', BigInt(count)) }))
    .execute();
  const { revision } = await db
    .selectFrom('edge_revision')
    .select('revision')
    .executeTakeFirstOrThrow();
  return revision;
};

/** Stores the edge's public port for processes that show addresses but are not an edge. */
export class EdgePort extends Store {
  /** Writes only a changed port, so that an edge can start while writes fail. @throws Unavailable */
  async remember(publicPort: number): Promise<void> {
    if ((await this.find()) === publicPort) return;
    await this.db.updateTable('edge_revision').set(edgeRevision.write({ publicPort })).execute();
  }

  /** @returns undefined until an edge has started. @throws Unavailable */
  async find(): Promise<number | undefined> {
    const row = await this.db.selectFrom('edge_revision').selectAll().executeTakeFirst();
    return row && edgeRevision.read(row).publicPort;
  }
}

/** Stores the result of `routesOf`. Call it last; see `nextEdgeRevision`. */
export const alignRoutes = async (
  database: Database,
  projectId: string,
  now: Date,
): Promise<void> => {
  const { db } = database;
  // With the lock, the second of two simultaneous changes reads the result of the first.
  const project = await database.lock('projects', projectId);
  if (!project) throw new Error(`project ${projectId} is missing`);
  const { slug, served_deploy_id } = project;
  const domains = await attachedTo(db, projectId);
  const wanted = routesOf({
    isDeleted: await isOutOfService(db, project),
    formerSlugs: await formerSlugsOf(db, projectId),
    projectId,
    slug,
    servedDeployId: served_deploy_id ?? undefined,
    deploys: await succeededOf(db, projectId),
    hosts: projectHostsOf(domains),
    withheld: await withheldOf(db, domains),
    settings: settingsFrom(project),
  });
  const rows = await db
    .selectFrom('routes')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('removed_at', 'is', null)
    .execute();
  const present = new Map(rows.map((row) => [row.name, routeFrom(row)]));
  for (const route of wanted) {
    if (!isSame(present.get(route.name), route)) await setRoute(db, route);
    present.delete(route.name);
  }
  await removeRoutes(db, [...present.keys()], now);
};

/** Removes all routes of an account that this transaction deletes. Call it last; see `nextEdgeRevision`. */
export const removeRoutesOf = async (
  { db, engine }: Database,
  accountId: string,
  now: Date,
): Promise<void> => {
  // Locks the projects, so that no change in progress stores a route afterwards.
  await db
    .selectFrom('projects')
    .select('id')
    .where('account_id', '=', accountId)
    .$call(engine.locked)
    .execute();
  const found = await db
    .selectFrom('routes')
    .innerJoin('projects', 'projects.id', 'routes.project_id')
    .select('routes.name')
    .where('projects.account_id', '=', accountId)
    .where('routes.removed_at', 'is', null)
    .execute();
  const names = found.map(({ name }) => name);
  await removeRoutes(db, names, now);
};

const isOutOfService = async (
  db: Queries,
  project: Pick<Selectable<Schema['projects']>, 'account_id' | 'deleted_at'>,
): Promise<boolean> => {
  if (project.deleted_at !== null) return true;
  const account = await db
    .selectFrom('accounts')
    .select('deleted_at')
    .where('id', '=', project.account_id)
    .executeTakeFirst();
  return account?.deleted_at !== null;
};

const formerSlugsOf = async (db: Queries, projectId: string): Promise<readonly string[]> => {
  const rows = await db
    .selectFrom('former_slugs')
    .select('slug')
    .where('project_id', '=', projectId)
    .orderBy('slug')
    .execute();
  return rows.map(({ slug }) => slug);
};

const succeededOf = async (db: Queries, projectId: string) => {
  const rows = await db
    .selectFrom('deploys')
    .select(['id', 'number'])
    .where('project_id', '=', projectId)
    .where('state', '=', 'succeeded')
    .execute();
  return rows.map(({ id, number }) => ({ id, number: Number(number) }));
};

export const hostsOf = async (db: Queries, projectId: string): Promise<readonly ProjectHost[]> =>
  projectHostsOf(await attachedTo(db, projectId));

const attachedTo = async (db: Queries, projectId: string): Promise<readonly CustomDomain[]> => {
  const rows = await db
    .selectFrom('domains')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('attached_host', 'is not', null)
    .orderBy('added_at')
    .orderBy('id')
    .execute();
  return rows.map(customDomainFrom);
};

const onlySettings = projects.only('domainSettings');

export const settingsFrom = (row: Parameters<typeof onlySettings.read>[0]): DomainSettings =>
  onlySettings.read(row).domainSettings ?? structuredClone(noDomainSettings);

export const storeSettings = async (
  db: Queries,
  projectId: string,
  domainSettings: DomainSettings,
): Promise<void> => {
  const row = onlySettings.write({ domainSettings });
  await db.updateTable('projects').set(row).where('id', '=', projectId).execute();
};

const isSame = (one: Route | undefined, other: Route): boolean =>
  one !== undefined && JSON.stringify(one) === JSON.stringify(other);

export const setRoute = async (db: Queries, route: Route): Promise<void> => {
  const revision = await nextEdgeRevision(db);
  await db.deleteFrom('routes').where('name', '=', route.name).execute();
  const row = routes.write({ ...leadingTo(route), revision });
  await db.insertInto('routes').values(row).execute();
};

/** Does nothing for absent routes. */
export const removeRoutes = (
  db: Queries,
  names: readonly string[],
  removedAt: Date,
): Promise<void> =>
  insertMany(names, async (some) => {
    const query = db.selectFrom('routes').select(['name', 'project_id']);
    const found = await query.where('name', 'in', some).where('removed_at', 'is', null).execute();
    if (found.length === 0) return;
    let revision = (await nextEdgeRevision(db, found.length)) - BigInt(found.length);
    const removed = found.map(({ name, project_id: projectId }) => {
      revision += 1n;
      return routes.write({ name, projectId, ...nowhere, revision, removedAt });
    });
    const gone = found.map(({ name }) => name);
    await db.deleteFrom('routes').where('name', 'in', gone).execute();
    await db.insertInto('routes').values(removed).execute();
  });

export type RouteRow = Selectable<Schema['routes']>;

export const routeFrom = (row: RouteRow): Route => {
  const { name, projectId, deployId, redirectTo: to, redirectStatus } = routes.read(row);
  return to === undefined
    ? { name, projectId, kind: 'site', deployId: present('deploy_id', deployId) }
    : { name, projectId, kind: 'redirect', to, status: present('redirect_status', redirectStatus) };
};

const nowhere = { deployId: undefined, redirectTo: undefined, redirectStatus: undefined };

const leadingTo = (route: Route) => {
  const { name, projectId } = route;
  switch (route.kind) {
    case 'site':
      return { name, projectId, ...nowhere, deployId: route.deployId };
    case 'redirect':
      return { name, projectId, ...nowhere, redirectTo: route.to, redirectStatus: route.status };
  }
};

export class KyselyProjectSettings extends AggregateStore implements ProjectSettings {
  readonly #clock: Clock;

  constructor(database: Database, outbox: KyselyOutbox, clock: Clock) {
    super(database, outbox);
    this.#clock = clock;
  }

  async read(projectId: string): Promise<DomainSettings> {
    const row = await this.db
      .selectFrom('projects')
      .select('domain_settings')
      .where('id', '=', projectId)
      .executeTakeFirst();
    return row ? settingsFrom(row) : structuredClone(noDomainSettings);
  }

  async change(
    projectId: string,
    decide: (
      settings: DomainSettings,
      facts: SettingsFacts,
    ) => Decision<DomainSettings, DomainsEvent>,
  ): Promise<DomainSettings> {
    const lock = async (db: Queries) => {
      const project = await this.database.lock('projects', projectId);
      if (!project) throw projectNotFound(projectId);
      const facts = { accountId: project.account_id, hosts: await hostsOf(db, projectId) };
      return { settings: settingsFrom(project), facts };
    };
    const { state } = await this.changing(
      lock,
      ({ settings, facts }) => decide(settings, facts),
      async ({ state }, db) => {
        await storeSettings(db, projectId, state);
        await alignRoutes(this.database, projectId, this.#clock.now());
      },
    );
    return state;
  }
}
