import { settings, type Setting } from '../../src/app/settings/settings.ts';
import { code, table } from './markdown.ts';

const settingsTable = (group: Setting['group']): string =>
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

export const settingsTables = (): Readonly<Record<string, string>> => ({
  required: settingsTable('required'),
  common: settingsTable('common'),
  rare: settingsTable('rare'),
});
