import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settings, type Setting } from '../../src/app/settings/settings.ts';
import { code, table } from './markdown.ts';

/** docs/settings.md as it is, with the tables of settings printed anew. */
export const settingsPage = (): string => {
  const page = readFileSync(join(import.meta.dirname, '../settings.md'), 'utf8');
  return page.replace(
    /(?<=<!-- settings: (\w+) -->\n\n)(\|.*\n)+/g,
    (_, group: string) => `${settingsTable(group)}\n`,
  );
};

const settingsTable = (group: string): string =>
  table(
    ['Setting', 'Default', 'Meaning'],
    Object.entries<Setting>(settings)
      .filter(([, setting]) => setting.group === group)
      .map(([name, { byDefault = '', shownDefault = byDefault, meaning }]) => [
        code(name),
        shownDefault === '' ? '–' : code(shownDefault),
        meaning,
      ]),
  );
