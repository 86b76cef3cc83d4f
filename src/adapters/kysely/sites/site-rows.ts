import type { Selectable } from 'kysely';
import type { Project } from '../../../sites/domain/project.ts';
import type { Site } from '../../../sites/domain/site.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import type { Queries } from '../database.ts';
import { deployFrom, type DeployRow } from './deploy-rows.ts';
import { fromMillis, toMillis, type RowOf, type Schema } from '../schema.ts';

type ProjectRow = Omit<
  Selectable<Schema['projects']>,
  'id' | 'served_deploy_id' | 'last_number' | 'domain_settings'
> & {
  readonly project_id: string;
};
/** A project beside each of its deploys, or beside nothing. */
export type SiteRow = ProjectRow &
  Pick<Selectable<Schema['projects']>, 'served_deploy_id' | 'last_number'> & {
    readonly [Column in keyof Omit<DeployRow, 'project_id'>]: DeployRow[Column] | null;
  };

export const projectColumns = [
  'projects.id as project_id',
  'account_id',
  'name',
  'slug',
  'created_at',
] as const;

/** One query, so that the project and its deploys are from the same moment. */
export const siteOf = (db: Queries, slug: string) =>
  db
    .selectFrom('projects')
    .leftJoin('deploys', 'deploys.project_id', 'projects.id')
    .select([...projectColumns, 'served_deploy_id', 'last_number'])
    .select(['deploys.id', 'number', 'state', 'started_at', 'finished_at'])
    .select(['files', 'bytes', 'problem', 'explanation'])
    .where('slug', '=', slug)
    .orderBy('number', 'desc');

export const hasDeploy = (row: SiteRow): row is SiteRow & DeployRow => row.id !== null;

export const siteFrom = (rows: readonly SiteRow[]): Site | undefined => {
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
export const toRow = ({ project, servedDeployId, lastNumber }: Site) => {
  const { id, accountId, name, slug, createdAt } = project;
  return {
    ...{ id, account_id: accountId, name, slug },
    created_at: toMillis(createdAt),
    served_deploy_id: servedDeployId ?? null,
    last_number: BigInt(lastNumber),
  } satisfies RowOf<Project> & RowOf<Omit<Site, 'project' | 'deploys'>>;
};

export const projectFrom = ({
  project_id,
  account_id,
  name,
  slug,
  created_at,
}: ProjectRow): Project =>
  ({
    id: project_id,
    accountId: account_id,
    name,
    slug,
    createdAt: fromMillis(created_at),
  }) satisfies EveryField<Project>;
