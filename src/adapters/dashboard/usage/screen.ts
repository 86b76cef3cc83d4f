import type { DashboardPorts } from '../frame/ports.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { count, empty, head } from '../frame/parts.ts';
import type { Screen, Visit } from '../frame/screen.ts';
import { columnsOf, firstBegin, rangeOf, ranges, type RangeName } from './columns.ts';
import { totalOf } from './chart.ts';
import { usageFigure } from './figure.ts';
import { bansOf, deprecatedCalls } from './keys.ts';
import { usageStats, usedToday } from './stats.ts';

const path = '/dashboard/usage';

/** The account's requests, compared with its limits. */
export const usageScreen = ({ access, settings }: DashboardPorts): Screen => ({
  path,
  section: 'usage',
  // Requests are counted without an event, and the counts of this minute are in no table.
  live: 'rendered',
  show: async ({ accountId, query, now }: Visit) => {
    const range = rangeOf(query.get('range'));
    const { unit, words } = ranges[range];
    const [usage, keys] = await Promise.all([
      access.sumUsage(accountId, firstBegin(range, now), unit),
      access.listApiKeys(accountId),
    ]);
    const columns = columnsOf(usage.sums, range, now);
    const { perMinute, perDay } = usage.limits;
    const stats = { usage, columns, keys, now, knowsCounts: settings.knowsCounts };
    const hasAny = columns.some((column) => totalOf(column) > 0);
    return {
      title: 'Usage',
      content: html`
        ${head('Usage', 'All API keys share the limits of the account; a ban applies to a single key. All times are UTC.')}
        ${usageStats(stats)}
        <section class="card">
          <div class="row between"><h2>Requests per ${unit}</h2>${tabs(range)}</div>
          <p><strong>${count(usedToday(stats))} of ${count(perDay)} today</strong> <span class="quiet">· Limits: ${count(perMinute)} a minute, ${count(perDay)} a day</span></p>
          ${hasAny ? usageFigure({ columns, range, perDay }) : nothingYet(words)}
        </section>
        ${bansOf(keys, now)}
        ${deprecatedCalls(usage.deprecated, keys, { ...settings, now })}`,
    };
  },
});

const tabs = (current: RangeName): Html => html`<nav class="choice" aria-label="Time range">
  ${(['24h', '30d'] as const).map(
    (range) =>
      html`<a href="${path}?range=${range}" ${range === current ? html`aria-current="true"` : nothing}>${ranges[range].words.replace('the last ', '')}</a>`,
  )}
</nav>`;

const nothingYet = (words: string): Html =>
  empty(
    `No requests in ${words}`,
    'Requests appear here within a few seconds. Each new API key comes with an example request.',
    html`<p><a class="button" href="/dashboard/keys">Go to API keys</a></p>`,
  );
