import { type ApiKey, isBanned } from '../../../access/domain/api-key.ts';
import type { WindowState } from '../../../access/domain/quota.ts';
import type { UsageSums } from '../../../access/use-cases/accounts.ts';
import type { Caller, HourOfUsage } from '../../../access/ports.ts';
import { type CsvColumn, sendCsv } from '../frame/csv.ts';
import { type Child, html, type Html, nothing } from '../frame/html.ts';
import { addressOf, csvLink, filterBar, type ListAddress, listBar } from '../frame/list-parts.ts';
import { count, empty, head, time } from '../frame/parts.ts';
import type { Screen, Visit } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';
import {
  type Column,
  columnsOf,
  firstBegin,
  type RangeName,
  rangeOf,
  ranges,
  todayOf,
  totalOf,
} from './chart.ts';
import { usageFigure } from './figure.ts';
import { bansOf, deprecatedCalls, type KeyUse, namesOf, requestsByKey, usesOf } from './keys.ts';
import { dayMs } from '../../../kernel/durations.ts';

const path = '/dashboard/usage';
const csvPath = `${path}.csv`;

export const usageScreen = ({ access, settings }: DashboardPorts): Screen => ({
  path,
  section: 'usage',
  // Requests are counted without events, and this minute's counts are in no table.
  live: 'often',
  show: async ({ accountId, query, now }: Visit) => {
    const range = rangeOf(query.get('range'));
    const { unit, words } = ranges[range];
    const keyId = keyIn(query);
    const begin = firstBegin(range, now);
    const [usage, keys, ofKey] = await Promise.all([
      access.sumUsage(accountId, begin, unit),
      access.listApiKeys(accountId),
      keyId === undefined ? undefined : access.sumRequests({ accountId, keyId }, begin, unit),
    ]);
    const columns = columnsOf(usage.sums, range, now);
    const shown = ofKey ? columnsOf(ofKey, range, now) : columns;
    const { perMinute, perDay } = usage.limits;
    const stats = { usage, columns, keys, now, knowsCounts: settings.knowsCounts };
    const uses = usesOf(usage.byKey, namesOf(keys));
    const address = addressFor(range, keyId);
    return {
      title: 'Usage',
      content: html`
        ${head('Usage', 'All API keys share the limits of the account; a ban applies to a single key. Hours and days are in UTC.')}
        ${usageStats(stats)}
        <section class="card">
          <div class="row between"><h2>Requests per ${unit}</h2><div class="row">${rangeBar(address)}${csvLink(addressOf({ ...address, path: csvPath }))}</div></div>
          ${keyBar(address, uses)}
          <p><strong>${count(usedToday(stats))} of ${count(perDay)} today</strong> <span class="quiet">· Limits: ${count(perMinute)} a minute, ${count(perDay)} a day</span></p>
          ${shown.some((column) => totalOf(column) > 0) ? usageFigure({ columns: shown, range, perDay }) : nothingYet(words)}
        </section>
        ${requestsByKey(uses, address, words)}
        ${bansOf(keys, now)}
        ${deprecatedCalls(usage.deprecated, keys, { ...settings, now })}`,
    };
  },
  others: [
    {
      method: 'GET',
      path: csvPath,
      answer: async ({ accountId, query, now }, ctx) => {
        const begin = firstBegin(rangeOf(query.get('range')), now);
        const names = namesOf(await access.listApiKeys(accountId));
        const days = daysFrom(begin, now);
        const hours = hoursOf(access, { accountId, keyId: keyIn(query) }, days);
        sendCsv(ctx, { name: 'usage', columns: csvColumns(names) }, hours);
        return undefined;
      },
    },
  ],
});

const daysFrom = (begin: Date, now: Date): readonly Date[] =>
  Array.from(
    { length: Math.floor((now.getTime() - begin.getTime()) / dayMs) + 1 },
    (_, n) => new Date(begin.getTime() + n * dayMs),
  );

/** Reads day by day, so that a long range does not fill the memory. */
async function* hoursOf(
  access: Pick<DashboardPorts['access'], 'listUsage'>,
  { accountId, keyId }: Caller,
  days: readonly Date[],
): AsyncGenerator<HourOfUsage> {
  for (const day of days) {
    const hours = await access.listUsage(accountId, day, new Date(day.getTime() + dayMs));
    yield* hours.filter((hour) => keyId === undefined || hour.keyId === keyId);
  }
}

const csvColumns = (names: (keyId: string) => string): readonly CsvColumn<HourOfUsage>[] => [
  ['hour', ({ hour }) => hour.toISOString()],
  ['key', ({ keyId }) => names(keyId)],
  ['operation', ({ operation }) => operation],
  ['outcome', ({ outcome }) => outcome],
  ['requests', ({ requests }) => requests],
];

const keyIn = (query: URLSearchParams): string | undefined => {
  const key = query.get('key') ?? '';
  return key === '' ? undefined : key;
};

const addressFor = (range: RangeName, key: string | undefined): ListAddress => ({
  path,
  fields: { range: range === '24h' ? undefined : range, key },
});

const rangeBar = (address: ListAddress): Html =>
  filterBar(address, 'Time range', {
    name: 'range',
    choices: [
      { value: '', text: '24 hours' },
      { value: '30d', text: '30 days' },
    ],
  });

/** The chart names only the busiest keys; the table below links to the others. */
const mostNamed = 5;

const keyBar = (address: ListAddress, uses: readonly KeyUse[]): Html => {
  const { key } = address.fields;
  if (uses.length < 2 && key === undefined) return nothing;
  const named = uses.filter(({ keyId }, at) => at < mostNamed || keyId === key);
  const choices = named.map(({ keyId, name, requests }) => ({
    value: keyId,
    text: name,
    count: requests,
  }));
  const all = [{ value: '', text: 'All keys' }, ...choices];
  return listBar(filterBar(address, 'API key', { name: 'key', choices: all }));
};

const nothingYet = (words: string): Html =>
  empty(
    `No requests in ${words}`,
    'Requests appear here within a few seconds. Each new API key comes with an example request.',
    html`<p><a class="button" href="/dashboard/keys">Go to API keys</a></p>`,
  );

interface Stats {
  readonly usage: UsageSums;
  readonly columns: readonly Column[];
  readonly keys: readonly ApiKey[];
  readonly now: Date;
  readonly knowsCounts: boolean;
}

const usageStats = ({ usage, columns, keys, now, knowsCounts }: Stats): Html => {
  const today = todayOf(columns, now);
  const ofDay = dayWindow({ usage, columns, now, knowsCounts });
  const banned = keys.filter((key) => isBanned(key.ban, now) && !key.revokedAt).length;
  const { minute } = usage.windows;
  const source = knowsCounts ? nothing : 'based on the requests stored so far; ';
  return html`<ul class="columns stats">
    ${knowsCounts ? left('Remaining this minute', minute, html`resets ${time(minute.resetAt, now)}`) : nothing}
    ${left('Remaining today', ofDay, html`${source}resets ${time(ofDay.resetAt, now)}`)}
    ${number('Refused today', today.refused, today.refused === 0 ? 'no limit was exceeded' : 'a limit was exceeded, or the key was banned')}
    ${number('Banned keys', banned, banned === 0 ? 'none right now' : html`lift a ban on <a href="/dashboard/keys">API keys</a>`)}
  </ul>`;
};

export const usedToday = (facts: DayFacts): number => {
  const { limit, remaining } = dayWindow(facts);
  return limit - remaining;
};

type DayFacts = Pick<Stats, 'usage' | 'columns' | 'now' | 'knowsCounts'>;

/** Uses the current counts, or the stored ones if this process does not know them. */
const dayWindow = ({ usage, columns, now, knowsCounts }: DayFacts): WindowState => {
  const { day } = usage.windows;
  if (knowsCounts) return day;
  const today = todayOf(columns, now);
  const passed = totalOf({ requests: today }) - today.refused;
  return { ...day, remaining: Math.max(0, day.limit - passed) };
};

const left = (title: string, { window, limit, remaining }: WindowState, about: Child): Html =>
  html`<li class="card">
    <h2 id="left-${window}" class="hint">${title}</h2>
    <p class="big">${count(remaining)} <small class="hint">of ${count(limit)}</small></p>
    <meter aria-labelledby="left-${window}" min="0" max="${limit}" low="${limit * 0.1}" optimum="${limit}" value="${remaining}">${count(remaining)} of ${count(limit)}</meter>
    <p class="hint">${about}</p>
  </li>`;

const number = (title: string, value: number, about: Child): Html => html`<li class="card">
    <h2 class="hint">${title}</h2>
    <p class="big ${value > 0 && 'bad'}">${count(value)}</p>
    <p class="hint">${about}</p>
  </li>`;
