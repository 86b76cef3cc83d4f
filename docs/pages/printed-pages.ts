import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsPage } from './commands-page.ts';
import { brunoCollection } from './bruno-collection.ts';
import { domainTables } from './domains-page.ts';
import { errorsPage } from './errors-page.ts';
import { eventsPage } from './events-page.ts';
import { lifecyclesPage } from './lifecycles-page.ts';
import { limitsPage } from './limits-page.ts';
import { rolesPage } from './roles-page.ts';
import { metricsPage } from './metrics-page.ts';
import { notificationsPage } from './notifications-page.ts';
import { settingsTables } from './settings-table.ts';
import { sitesPage } from './sites-page.ts';
import { webhookTables } from './webhooks-page.ts';

/** The page as it is, with what stands below each `<!-- printed: NAME -->` printed anew. */
const withTables = (name: string, tables: Readonly<Record<string, string>>): string => {
  const page = readFileSync(join(import.meta.dirname, '..', name), 'utf8');
  const left = new Set(Object.keys(tables));
  const printed = page.replace(
    /(?<=<!-- printed: (\w+) -->\n\n)(?:\|.*\n)+/g,
    (_, table: string) => {
      if (!left.delete(table)) throw new Error(`docs/${name} has no table "${table}", or twice`);
      return `${tables[table] ?? ''}\n`;
    },
  );
  if (left.size > 0) throw new Error(`docs/${name} has no place for ${[...left].join(', ')}`);
  return printed;
};

/** What code knows better than any writer, by its path in docs/. */
export const printedPages = (): Readonly<Record<string, string>> => ({
  ...brunoCollection(),
  'commands.md': commandsPage(),
  'domains.md': withTables('domains.md', domainTables()),
  'errors.md': errorsPage(),
  'events.md': eventsPage(),
  'lifecycles.md': lifecyclesPage(),
  'limits.md': limitsPage(),
  'metrics.md': metricsPage(),
  'notifications.md': notificationsPage(),
  'roles.md': rolesPage(),
  'settings.md': withTables('settings.md', settingsTables()),
  'sites.md': sitesPage(),
  'webhooks.md': withTables('webhooks.md', webhookTables()),
});
