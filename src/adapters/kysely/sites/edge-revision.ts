import type { Queries } from '../database.ts';

/**
 * The revision of a change for the edges. Its row stays locked until the transaction ends, so that revisions are
 * committed in order and a reader who sees one can see all earlier ones. Other writers wait meanwhile, so take it late.
 * @param db in a transaction
 */
export const nextEdgeRevision = async (db: Queries): Promise<bigint> => {
  await db
    .updateTable('edge_revision')
    .set(({ eb }) => ({ revision: eb('revision', '+', 1n) }))
    .execute();
  const { revision } = await db
    .selectFrom('edge_revision')
    .select('revision')
    .executeTakeFirstOrThrow();
  return revision;
};
