import { Store } from '../store.ts';

/** The edges' public HTTPS port, for processes that show addresses but are no edge. */
export class EdgePort extends Store {
  /**
   * Called by each edge once it listens. Writes only a changed port, so that an edge can start while writes fail.
   * @throws Unavailable
   */
  async remember(port: number): Promise<void> {
    if ((await this.find()) === port) return;
    await this.db
      .updateTable('edge_revision')
      .set({ public_port: BigInt(port) })
      .execute();
  }

  /** @returns undefined until an edge has started. @throws Unavailable */
  async find(): Promise<number | undefined> {
    const row = await this.db.selectFrom('edge_revision').select('public_port').executeTakeFirst();
    const port = row?.public_port ?? undefined;
    return port === undefined ? undefined : Number(port);
  }
}
