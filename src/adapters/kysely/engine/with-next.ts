import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Schema } from '../schema.ts';

const unanswered = new WeakSet<object>();

/**
 * A statement whose answer is not needed. In a MySQL transaction it is sent together with the next statement, at the
 * latest with COMMIT, which saves a round trip; if it fails, that one fails.
 */
export const withNext = <Row>(statement: Compilable<Row>): Compilable<Row> => ({
  compile: () => {
    const query = statement.compile();
    unanswered.add(query.queryId);
    return query;
  },
});

/** Runs such a statement. */
export const runWithNext = async (db: Kysely<Schema>, statement: Compilable): Promise<void> => {
  await db.executeQuery(withNext(statement).compile());
};

export const goesWithNext = ({ queryId }: CompiledQuery): boolean => unanswered.has(queryId);
