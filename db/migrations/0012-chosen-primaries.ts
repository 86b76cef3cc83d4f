import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, maybe } from '../tables.ts';

interface Schema {
  projects: { id: string; domain_settings: string | null; no_primary: bigint | null };
  domains: { project_id: string; attached_host: string | null; added_at: bigint };
  events: { type: string; details: string; occurred_at: bigint };
}

interface Told {
  readonly projectId: string;
  readonly primary: string;
}

/**
 * Version 1.1.0 stores that an owner wants no primary domain. Version 1.0.0, which still serves meanwhile, only stored
 * that there is none: the owner took it away if the audit log says so, and its domain is still there.
 */
export const up = async (anyDb: Kysely<unknown>): Promise<void> => {
  await addColumnOnce(anyDb, 'projects', 'no_primary', maybe(columnsFor(anyDb).integer));
  const db = anyDb as Kysely<Schema>;
  for (const [projectId, { primary, endedAt }] of await takenAway(db)) {
    const domain = await db
      .selectFrom('domains')
      .select('added_at')
      .where('project_id', '=', projectId)
      .where('attached_host', '=', primary)
      .executeTakeFirst();
    if (!domain || domain.added_at > endedAt) continue;
    await db
      .updateTable('projects')
      .set({ no_primary: 1n })
      .where('id', '=', projectId)
      // Not over what version 1.1.0 stored, when this starts over.
      .where('no_primary', 'is', null)
      .execute();
  }
};

/** The last primary domain of each project whose newest settings have none, and since when. */
const takenAway = async (db: Kysely<Schema>) => {
  const events = await db
    .selectFrom('events')
    .select(['details', 'occurred_at'])
    .where('type', '=', 'domain_settings_changed')
    .orderBy('occurred_at')
    .execute();
  const last = new Map<string, string>();
  const ended = new Map<string, { readonly primary: string; readonly endedAt: bigint }>();
  for (const { details, occurred_at } of events) {
    const { projectId, primary } = JSON.parse(details) as Told;
    const before = last.get(projectId);
    last.set(projectId, primary);
    if (primary) ended.delete(projectId);
    else if (before) ended.set(projectId, { primary: before, endedAt: occurred_at });
  }
  return ended;
};
