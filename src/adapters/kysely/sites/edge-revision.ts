import type { Queries } from '../database.ts';
import { Store } from '../store.ts';
import { edgeRevision } from './tables.ts';

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

/** The edges' public HTTPS port, for processes that show addresses but are no edge. */
export class EdgePort extends Store {
  /**
   * Called by each edge once it listens. Writes only a changed port, so that an edge can start while writes fail.
   * @throws Unavailable
   */
  async remember(publicPort: number): Promise<void> {
    if ((await this.find()) === publicPort) return;
    await this.db.updateTable('edge_revision').set(edgeRevision.write({ publicPort })).execute();
  }

  /** @returns undefined until an edge has started. @throws Unavailable */
  async find(): Promise<number | undefined> {
    const row = await this.db.selectFrom('edge_revision').selectAll().executeTakeFirst();
    return row && edgeRevision.read(row).publicPort;
  }
}
