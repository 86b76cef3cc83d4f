import { commandsPage } from './commands-page.ts';
import { brunoCollection } from './bruno-collection.ts';
import { domainsPage } from './domains-page.ts';
import { errorsPage } from './errors-page.ts';
import { eventsPage } from './events-page.ts';
import { lifecyclesPage } from './lifecycles-page.ts';
import { limitsPage } from './limits-page.ts';
import { securityPage } from './security-page.ts';
import { metricsPage } from './metrics-page.ts';
import { notificationsPage } from './notifications-page.ts';
import { settingsPage } from './settings-table.ts';
import { sitesPage } from './sites-page.ts';
import { webhooksPage } from './webhooks-page.ts';

/** The pages that code knows better than any writer, by their path in docs/. */
export const printedPages = (): Readonly<Record<string, string>> => ({
  ...brunoCollection(),
  'commands.md': commandsPage(),
  'domains.md': domainsPage(),
  'errors.md': errorsPage(),
  'events.md': eventsPage(),
  'lifecycles.md': lifecyclesPage(),
  'limits.md': limitsPage(),
  'metrics.md': metricsPage(),
  'notifications.md': notificationsPage(),
  'settings.md': settingsPage(),
  'security.md': securityPage(),
  'sites.md': sitesPage(),
  'webhooks.md': webhooksPage(),
});
