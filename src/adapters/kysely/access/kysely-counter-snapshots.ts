import type { CounterSnapshots, CounterSnapshot } from '../../../access/ports.ts';
import { Store } from '../store.ts';
import { quotaCounters } from './tables.ts';

const rowsPerStatement = 200;

export class KyselyCounterSnapshots extends Store implements CounterSnapshots {
  async save(snapshots: readonly CounterSnapshot[], now: Date): Promise<void> {
    if (snapshots.length === 0) return;
    await this.database.transaction(async (db) => {
      for (let first = 0; first < snapshots.length; first += rowsPerStatement) {
        const rows = snapshots
          .slice(first, first + rowsPerStatement)
          .map((snapshot) => quotaCounters.write({ ...snapshot, savedAt: now }));
        await db.replaceInto('quota_counters').values(rows).execute();
      }
    });
  }

  load(): Promise<readonly CounterSnapshot[]> {
    return this.db.selectFrom('quota_counters').select(['subject', 'data']).execute();
  }
}
