import { type ApiKey, isBanned } from '../../../access/domain/api-key.ts';
import type { WindowState } from '../../../access/domain/quota.ts';
import type { UsageSums } from '../../../access/use-cases/accounts.ts';
import { html, nothing, type Child, type Html } from '../frame/html.ts';
import { count, time } from '../frame/parts.ts';
import { totalOf, type Column } from './chart.ts';
import { todayOf } from './columns.ts';

export interface Stats {
  readonly usage: UsageSums;
  readonly columns: readonly Column[];
  readonly keys: readonly ApiKey[];
  readonly now: Date;
  /** See `DashboardSettings`. */
  readonly knowsCounts: boolean;
}

/** What is left and what went wrong, in a few numbers. */
export const usageStats = ({ usage, columns, keys, now, knowsCounts }: Stats): Html => {
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

/** Of the quota of the day. Refused requests use none of it. */
export const usedToday = (facts: DayFacts): number => {
  const { limit, remaining } = dayWindow(facts);
  return limit - remaining;
};

type DayFacts = Pick<Stats, 'usage' | 'columns' | 'now' | 'knowsCounts'>;

/** As counted, or where this process does not know the counts, as stored. */
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
