import type { Selectable } from 'kysely';
import { deployStates, type Deploy } from '../../../sites/domain/deploy.ts';
import { uploadProblems } from '../../../sites/domain/sites-error.ts';
import type { Queries } from '../database.ts';
import { oneOf, present } from '../column.ts';
import { fromMillis, toMillis, type RowOf, type Schema } from '../schema.ts';

export type DeployRow = Selectable<Schema['deploys']>;

/** Saves the differences between rows and deploys; the caller holds the lock on their project. */
export const saveDeploys = async (
  db: Queries,
  projectId: string,
  rows: readonly DeployRow[],
  deploys: readonly Deploy[],
): Promise<void> => {
  const kept = new Set(deploys.map(({ id }) => id));
  const dropped = rows.map(({ id }) => id).filter((id) => !kept.has(id));
  if (dropped.length > 0) await db.deleteFrom('deploys').where('id', 'in', dropped).execute();
  for (const deploy of deploys) {
    const row = toRow(projectId, deploy);
    const stored = rows.find(({ id }) => id === row.id);
    if (!stored) await db.insertInto('deploys').values(row).execute();
    else if (isChanged(stored, row))
      await db.updateTable('deploys').set(row).where('id', '=', row.id).execute();
  }
};

export const deployFrom = (row: DeployRow): Deploy => {
  const identity = {
    id: row.id,
    number: Number(row.number),
    startedAt: fromMillis(row.started_at),
  };
  const state = oneOf(deployStates, row.state);
  switch (state) {
    case 'uploading':
      return { ...identity, state };
    case 'succeeded':
      return {
        ...identity,
        state,
        finishedAt: fromMillis(present('finished_at', row.finished_at)),
        files: Number(present('files', row.files)),
        bytes: Number(present('bytes', row.bytes)),
      };
    case 'failed':
      return {
        ...identity,
        state,
        finishedAt: fromMillis(present('finished_at', row.finished_at)),
        problem: oneOf(uploadProblems, present('problem', row.problem)),
        explanation: present('explanation', row.explanation),
      };
  }
};

const blank = { finished_at: null, files: null, bytes: null, problem: null, explanation: null };

const toRow = (projectId: string, deploy: Deploy): DeployRow => {
  const row = {
    id: deploy.id,
    project_id: projectId,
    number: BigInt(deploy.number),
    state: deploy.state,
    started_at: toMillis(deploy.startedAt),
    ...blank,
  };
  switch (deploy.state) {
    case 'uploading':
      return row satisfies RowOf<typeof deploy>;
    case 'succeeded':
      return {
        ...row,
        finished_at: toMillis(deploy.finishedAt),
        files: BigInt(deploy.files),
        bytes: BigInt(deploy.bytes),
      } satisfies RowOf<typeof deploy>;
    case 'failed': {
      const { finishedAt, problem, explanation } = deploy;
      return {
        ...row,
        finished_at: toMillis(finishedAt),
        ...{ problem, explanation },
      } satisfies RowOf<typeof deploy>;
    }
  }
};

const isChanged = (stored: DeployRow, row: DeployRow): boolean =>
  Object.entries(row).some(([column, value]) => stored[column as keyof DeployRow] !== value);
