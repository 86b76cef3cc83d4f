import type { Selectable } from 'kysely';
import type { Route } from '../../../domains/domain/redirects/routes.ts';
import type { Queries } from '../database.ts';
import { nextEdgeRevision } from './edge-revision.ts';
import { present } from '../column.ts';
import { toMillis, type Schema } from '../schema.ts';

// For the other adapters of this folder, last in their transaction: see `nextEdgeRevision`.

/** Sets the route of a name; replaces an earlier one. */
export const setRoute = async (db: Queries, route: Route): Promise<void> => {
  const revision = await nextEdgeRevision(db);
  await db.deleteFrom('routes').where('name', '=', route.name).execute();
  await db
    .insertInto('routes')
    .values({ ...routeColumns(route), revision })
    .execute();
};

const nowhere = { deploy_id: null, redirect_to: null, redirect_status: null };

/** Removing an absent route is no error. */
export const removeRoute = async (db: Queries, name: string, removedAt: Date): Promise<void> => {
  const revision = await nextEdgeRevision(db);
  await db
    .updateTable('routes')
    .set({ ...nowhere, revision, removed_at: toMillis(removedAt) })
    .where('name', '=', name)
    .where('removed_at', 'is', null)
    .execute();
};

export type RouteRow = Selectable<Schema['routes']>;

export const routeFrom = (row: RouteRow): Route => {
  const { name, project_id: projectId, redirect_to: to, redirect_status: status } = row;
  return to === null
    ? { name, projectId, kind: 'site', deployId: present('deploy_id', row.deploy_id) }
    : { name, projectId, kind: 'redirect', to, status: Number(present('redirect_status', status)) };
};

const routeColumns = (route: Route) => {
  const { name, projectId, kind } = route;
  const isSite = kind === 'site';
  return {
    name,
    project_id: projectId,
    deploy_id: isSite ? route.deployId : null,
    redirect_to: isSite ? null : route.to,
    redirect_status: isSite ? null : BigInt(route.status),
  };
};
