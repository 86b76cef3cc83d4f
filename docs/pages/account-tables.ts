import {
  mayDo,
  type Operation,
  operations,
  roles,
  roleWords,
} from '../../src/access/domain/role.ts';
import { settings, type Setting } from '../../src/app/settings/settings.ts';
import { code, type Printed, table } from './markdown.ts';

export const roleTables = (): Readonly<Record<string, Printed>> => ({
  roles: table(
    ['Role', 'May'],
    roles.map((role) => [role, roleWords[role]]),
  ),
  operations: table(
    ['May', ...roles, 'asked again'],
    (Object.keys(operations) as Operation[]).map((operation) => [
      operations[operation].does,
      ...roles.map((role) => yesOrNo(mayDo(role, operation))),
      yesOrNo(operations[operation].again),
    ]),
  ),
});

const yesOrNo = (is: boolean): string => (is ? 'yes' : '–');

const settingsTable = (group: Setting['group']): Printed =>
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

export const settingsTables = (): Readonly<Record<string, Printed>> => ({
  required: settingsTable('required'),
  common: settingsTable('common'),
  rare: settingsTable('rare'),
});
