import type { Kysely } from 'kysely';
import { createIndexOnce } from '../columns.ts';

/** Entries of one actor, of one kind, and of both, in the order of time: none has to be sorted or skipped. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const add = (name: string, columns: readonly string[]) =>
    createIndexOnce(db, name, 'audit_log', ['account_id', ...columns, 'occurred_at']);
  await add('audit_log_by_actor', ['actor']);
  await add('audit_log_by_kind', ['what']);
  await add('audit_log_by_actor_and_kind', ['actor', 'what']);
};
