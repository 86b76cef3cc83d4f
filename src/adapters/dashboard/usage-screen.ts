import type { DashboardPorts } from './dashboard-ports.ts';
import { html, nothing, type Html } from './html.ts';
import { empty } from './parts.ts';
import type { Screen, Visit } from './screen.ts';
import { columnsOf, firstBegin, rangeOf, ranges, type RangeName } from './usage-columns.ts';
import { totalOf } from './usage-chart.ts';
import { usageFigure } from './usage-figure.ts';
import { bansOf, deprecatedCalls } from './usage-keys.ts';
import { usageStats } from './usage-stats.ts';

const path = '/dashboard/usage';

/** What the account's requests come to, against its limits. */
export const usageScreen = ({ access, settings }: DashboardPorts): Screen => ({
  path,
  section: 'usage',
  isLive: true,
  notices: {},
  forms: [],
  show: async ({ accountId, query, now }: Visit) => {
    const range = rangeOf(query.get('range'));
    const { unit, words } = ranges[range];
    const [usage, keys] = await Promise.all([
      access.sumUsage(accountId, firstBegin(range, now), unit),
      access.listApiKeys(accountId),
    ]);
    const columns = columnsOf(usage.sums, range, now);
    const { perMinute, perDay } = usage.limits;
    const limit = unit === 'day' ? perDay : Math.min(perDay, perMinute * 60);
    const hasAny = columns.some((column) => totalOf(column) > 0);
    return {
      title: 'Usage',
      content: html`
        <div class="head">
          <h1>Usage</h1>
          <p class="lead">All keys share the limits of the account; a ban hits one key only. Minutes, hours and days are those of UTC.</p>
        </div>
        ${usageStats({ usage, columns, keys, now, knowsCounts: settings.knowsCounts })}
        <section class="card">
          <div class="row middle between"><h2>Requests per ${unit}</h2>${tabs(range)}</div>
          ${hasAny ? usageFigure({ columns, range, limit }) : nothingYet(words)}
        </section>
        ${bansOf(keys, now)}
        ${deprecatedCalls(usage.deprecated, keys, { ...settings, now })}`,
    };
  },
});

const tabs = (current: RangeName): Html => html`<nav class="choice" aria-label="How far back">
  ${(['24h', '30d'] as const).map(
    (range) =>
      html`<a href="${path}?range=${range}" ${range === current ? html`aria-current="true"` : nothing}>${ranges[range].words.replace('the last ', '')}</a>`,
  )}
</nav>`;

const nothingYet = (words: string): Html =>
  empty(
    `No requests in ${words}`,
    'Requests show here a few seconds after they were made. A new key comes with a call to try.',
    html`<p><a class="button" href="/dashboard/keys">To the API keys</a></p>`,
  );
