import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from './command-name.ts';
import type { Config } from './settings/config.ts';

type Where = Pick<Config, 'dataDir'>;

/** In the data folder while a restore is not finished; one that was interrupted goes on beside what it has left. */
export const restoreMark = ({ dataDir }: Where): string => join(dataDir, 'restore-unfinished');

/** Before anything is written: a service would make an empty database there. @throws Error while a restore is not finished */
export const refuseHalfRestored = (where: Where): void => {
  const mark = restoreMark(where);
  if (!existsSync(mark)) return;
  throw new Error(
    `A restore into ${where.dataDir} was interrupted (${mark}). Run ${commandName()} restore again: it continues.`,
  );
};
