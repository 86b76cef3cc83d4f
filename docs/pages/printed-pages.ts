import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brunoCollection } from './bruno-collection.ts';
import { commandTables } from './command-tables.ts';
import { domainTables } from './domain-tables.ts';
import { errorTables } from './error-tables.ts';
import { eventTables } from './event-tables.ts';
import { lifecycleDiagrams } from './lifecycle-diagrams.ts';
import { limitTables } from './limit-tables.ts';
import { metricTables } from './metric-tables.ts';
import { noticeTables, webhookTables } from './notice-tables.ts';
import type { Printed } from './markdown.ts';
import { roleTables, settingsTables } from './account-tables.ts';
import { siteTables } from './site-tables.ts';

/** The page with new content below each `<!-- printed: NAME -->`. */
const withTables = (name: string, tables: Readonly<Record<string, Printed>>): string => {
  const page = readFileSync(join(import.meta.dirname, '..', name), 'utf8');
  const left = new Set(Object.keys(tables));
  const printed = page.replace(
    /(?<=<!-- printed: (\w+) -->\n\n)((?:.+\n)+)/g,
    (_, table: string, before: string) => {
      const print = tables[table];
      if (!print || !left.delete(table)) {
        throw new Error(`docs/${name}: nothing prints "${table}", or it is there twice`);
      }
      return `${print(before, `docs/${name}`)}\n`;
    },
  );
  if (left.size > 0) throw new Error(`docs/${name} has no place for ${[...left].join(', ')}`);
  return printed;
};

const tables: Readonly<Record<string, Readonly<Record<string, Printed>>>> = {
  'commands.md': commandTables(),
  'domains.md': domainTables(),
  'errors.md': errorTables(),
  'events.md': eventTables(),
  'lifecycles.md': lifecycleDiagrams(),
  'limits.md': limitTables(),
  'metrics.md': metricTables(),
  'notifications.md': noticeTables(),
  'roles.md': roleTables(),
  'settings.md': settingsTables(),
  'sites.md': siteTables(),
  'webhooks.md': webhookTables(),
};

/** The printed contents by page in docs/. */
export const printedPages = (): Readonly<Record<string, string>> => ({
  ...brunoCollection(),
  ...Object.fromEntries(
    Object.entries(tables).map(([name, printed]) => [name, withTables(name, printed)]),
  ),
});
