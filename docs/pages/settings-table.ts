import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingTable } from '../../src/app/settings/setting.ts';
import { settings } from '../../src/app/settings/settings.ts';
import { code, table } from './markdown.ts';

const known: SettingTable = settings;

/** docs/operations.md as it is, with the table of settings printed anew. */
export const operationsPage = (): string => {
  const page = readFileSync(join(import.meta.dirname, '../operations.md'), 'utf8');
  return page.replace(/^\| Setting +\|.*\n(\|.*\n)+/m, () => `${settingsTable()}\n`);
};

const settingsTable = (): string =>
  table(
    ['Setting', 'Default', 'Meaning'],
    Object.entries(known).map(([name, { shownDefault, meaning }]) => [
      code(name),
      shownDefault === undefined ? '–' : code(shownDefault),
      meaning,
    ]),
  );
