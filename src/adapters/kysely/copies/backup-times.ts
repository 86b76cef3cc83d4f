import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { migrationStates } from '../migrations.ts';
import { fromMillis, toMillis } from '../schema.ts';
import { migrationTable } from './copy-facts.ts';

const migration = '0015-backup-times';

/** `made`: a backup is whole; `checked`: it could be restored. */
export type BackupStep = 'made' | 'checked';

/** What the database knows of its own backups. */
export interface BackupTimes {
  /** From then on they are remembered: since the installation, or its upgrade from version 1.0.0. */
  readonly since: Date;
  /** Each the moment of the newest backup of which that is known. */
  readonly made: Date | undefined;
  readonly checked: Date | undefined;
}

/** Whether the schema is new enough to remember them. @throws Unavailable */
export const remembersBackups = async (database: Database): Promise<boolean> =>
  (await migrationStates(database)).some(
    ({ name, executedAt }) => name === migration && executedAt !== undefined,
  );

/** Where the database remembers backups. @throws Unavailable */
export const backupTimes = async (database: Database): Promise<BackupTimes> => {
  const { rows } = await database.run((db) =>
    sql<{ timestamp: string }>`
      select timestamp from ${sql.table(migrationTable)} where name = ${migration}`.execute(db),
  );
  const [applied] = rows;
  if (!applied) throw new Error(`migration ${migration} is missing`);
  const times = await database.db.selectFrom('backup_times').selectAll().execute();
  const momentOf = (step: BackupStep): Date | undefined => {
    const found = times.find((one) => one.step === step);
    return found && fromMillis(found.moment);
  };
  const [made, checked] = [momentOf('made'), momentOf('checked')];
  return { since: new Date(applied.timestamp), made, checked };
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
