// Commands that work on a whole database or data folder load these modules together.
export { Database } from '../adapters/kysely/database.ts';
export { migrateUp, migrationStates } from '../adapters/kysely/migrations.ts';
export { backUp } from './backup/back-up.ts';
export { checkBackup } from './backup/check-backup.ts';
export { restore } from './backup/restore.ts';
export { makeDataPlaces, refuseHalfRestored } from './data-folder.ts';
export { failureInWords } from './failure-words.ts';
export { moveDatabase } from './move-database.ts';
export { recallCounters } from './wiring/access.ts';
export { keyStates, resealAll } from './sealed-keys.ts';
