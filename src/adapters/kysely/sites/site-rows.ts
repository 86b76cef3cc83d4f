import { isDeepStrictEqual } from 'node:util';
import type { Selectable } from 'kysely';
import type { Deploy, Site } from '../../../sites/domain/site.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { Queries, Schema } from '../database.ts';
import { present } from '../table.ts';
import { deploys, projects } from './tables.ts';

type ProjectRow = Omit<Parameters<typeof ofSite.read>[0], 'id'> & { readonly project_id: string };
type DeployRow = Selectable<Schema['deploys']>;
export type SiteRow = ProjectRow & {
  readonly [Column in keyof Omit<DeployRow, 'project_id'>]: DeployRow[Column] | null;
};

const ofSite = projects.without('domainSettings');
export const ofProject = ofSite.without('servedDeployId', 'servedSince', 'lastNumber');
const ofDeploy = deploys.without('id', 'projectId');

/** Uses one query, so that a project and its deploys are from the same moment. */
export const siteOf = (db: Queries) =>
  db
    .selectFrom('projects')
    .leftJoin('deploys', 'deploys.project_id', 'projects.id')
    .select(ofSite.without('id').names)
    .select(['projects.id as project_id', 'deploys.id'])
    .select(ofDeploy.names)
    .orderBy('number', 'desc');

export type SiteQuery = ReturnType<typeof siteOf>;

export const projectFrom: (row: Parameters<typeof ofProject.read>[0]) => Project = ofProject.read;

const hasDeploy = (row: SiteRow): row is SiteRow & DeployRow => row.id !== null;

export const siteFrom = (rows: readonly SiteRow[]): Site | undefined => {
  const [first] = rows;
  if (!first) return undefined;
  const { servedDeployId, servedSince, lastNumber, ...project } = ofSite.read({
    ...first,
    id: first.project_id,
  });
  const found = rows.filter(hasDeploy).map(deployFrom);
  return { project, deploys: found, servedDeployId, servedSince, lastNumber };
};

export const siteRow = ({ project, deploys: _, ...rest }: Omit<Site, 'deploys'> & Partial<Site>) =>
  projects.write({ ...project, ...rest });

/** Saves the differences. The caller must hold the lock. */
export const saveDeploys = async (
  db: Queries,
  before: Site,
  wanted: readonly Deploy[],
): Promise<void> => {
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
