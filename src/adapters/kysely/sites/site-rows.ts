import { isDeepStrictEqual } from 'node:util';
import type { Selectable } from 'kysely';
import type { Deploy, Site } from '../../../sites/domain/site.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { present } from '../column.ts';
import type { Queries } from '../database.ts';
import type { Schema } from '../schema.ts';
import { deploys, projects } from './tables.ts';

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
export const siteOf = (db: Queries, slug: string) =>
  db
    .selectFrom('projects')
    .leftJoin('deploys', 'deploys.project_id', 'projects.id')
    .select(ofSite.without('id').names)
    .select(['projects.id as project_id', 'deploys.id'])
    .select(ofDeploy.names)
    .where('slug', '=', slug)
    .orderBy('number', 'desc');

export const selectProjects = (db: Queries) =>
  db.selectFrom('projects').select(ofProject.names.map((name) => `projects.${name}` as const));

export const projectFrom: (row: Parameters<typeof ofProject.read>[0]) => Project = ofProject.read;

const hasDeploy = (row: SiteRow): row is SiteRow & DeployRow => row.id !== null;

export const siteFrom = (rows: readonly SiteRow[]): Site | undefined => {
  const [first] = rows;
  if (!first) return undefined;
  const { servedDeployId, lastNumber, ...project } = ofSite.read({
    ...first,
    id: first.project_id,
  });
  return { project, deploys: rows.filter(hasDeploy).map(deployFrom), servedDeployId, lastNumber };
};

/** Deploys have rows of their own. */
export const siteRow = ({ project, servedDeployId, lastNumber }: Omit<Site, 'deploys'>) =>
  projects.write({ ...project, servedDeployId, lastNumber });

/** Saves the differences; the caller holds the lock on the project. */
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
  const { id, number, startedAt, state, ...result } = deploys.read(row);
  const identity = { id, number, startedAt };
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
