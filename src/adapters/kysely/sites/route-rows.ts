import type { Selectable } from 'kysely';
import type { Route } from '../../../domains/domain/redirects/routes.ts';
import { present, type Schema } from '../schema.ts';

export type RouteRow = Selectable<Schema['routes']>;

export const routeFrom = (row: RouteRow): Route => {
  const { name, project_id: projectId, redirect_to: to, redirect_status: status } = row;
  return to === null
    ? { name, projectId, kind: 'site', deployId: present('deploy_id', row.deploy_id) }
    : { name, projectId, kind: 'redirect', to, status: Number(present('redirect_status', status)) };
};

export const routeColumns = (route: Route) => {
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
