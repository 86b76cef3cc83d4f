import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { fromMillis, toMillis } from '../schema.ts';
import { migrationTable } from './copy-facts.ts';

/** `made`: a backup is whole; `checked`: it could be restored. */
export type BackupStep = 'made' | 'checked';

/** What the database knows of its own backups. */
export interface BackupTimes {
  /** From then on they are remembered: the installation. */
  readonly since: Date;
  /** Each the moment of the newest backup of which that is known. */
  readonly made: Date | undefined;
  readonly checked: Date | undefined;
}

/** Where the database remembers backups. @throws Unavailable */
export const backupTimes = async (database: Database): Promise<BackupTimes> => {
  const { rows } = await database.run((db) =>
    sql<{ timestamp: string }>`
      select min(timestamp) as timestamp from ${sql.table(migrationTable)}`.execute(db),
  );
  const [installed] = rows;
  const times = await database.db.selectFrom('backup_times').selectAll().execute();
  const momentOf = (step: BackupStep): Date | undefined => {
    const found = times.find((one) => one.step === step);
    return found && fromMillis(found.moment);
  };
  const [made, checked] = [momentOf('made'), momentOf('checked')];
  return { since: new Date(installed?.timestamp ?? ''), made, checked };
};

/**
 * @param moment of the backup; an older one than is known changes nothing, unless that lies in the future: a clock was wrong
 * @throws Unavailable
 */
export const rememberBackup = async (
  database: Database,
  step: BackupStep,
  moment: Date,
): Promise<void> => {
  const values = { step, moment: toMillis(moment) };
  const change = { moment: sql`${values.moment}` };
  await database.transaction(async (db) => {
    const known = await db
      .selectFrom('backup_times')
      .select('moment')
      .where('step', '=', step)
      .$call(database.engine.locked)
      .executeTakeFirst();
    if (known && known.moment > values.moment && known.moment <= Date.now()) return;
    await database.engine
      .upsert({ insert: db.insertInto('backup_times').values(values), key: ['step'], change })
      .execute();
  });
};
