import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Schema } from './schema.ts';

const unanswered = new WeakSet<object>();

/**
 * Runs a statement whose answer tells nothing. In a transaction on MySQL it is sent together with the next one, the
 * COMMIT at the latest, and takes no round trip of its own; what fails then fails together with it.
 */
export const runWithNext = async (db: Kysely<Schema>, statement: Compilable): Promise<void> => {
  const query = statement.compile();
  unanswered.add(query.queryId);
  await db.executeQuery(query);
};

export const goesWithNext = ({ queryId }: CompiledQuery): boolean => unanswered.has(queryId);
