import type { ApiKey } from '../../access/domain/api-key.ts';
import { isBanned } from '../../access/domain/ban.ts';
import type { WindowState } from '../../access/domain/rate-quota.ts';
import type { UsageSums } from '../../access/use-cases/sum-usage.ts';
import { html, nothing, type Child, type Html } from './html.ts';
import { count, time } from './parts.ts';
import { totalOf, type Column } from './usage-chart.ts';
import { todayOf } from './usage-columns.ts';

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
  const banned = keys.filter((key) => isBanned(key.ban, now) && !key.revokedAt).length;
  const { minute, day } = usage.windows;
  const passed = totalOf({ begin: now, requests: today }) - today.refused;
  const stored = { ...day, remaining: Math.max(0, day.limit - passed) };
  return html`<ul class="stats">
    ${knowsCounts ? left('Left this minute', minute, html`starts anew ${time(minute.resetAt, now)}`) : nothing}
    ${knowsCounts ? left('Left today', day, html`starts anew ${time(day.resetAt, now)}`) : left('Left today', stored, html`as of the requests stored by now; starts anew ${time(day.resetAt, now)}`)}
    ${number('Refused today', today.refused, today.refused === 0 ? 'nobody was over a limit' : 'over a limit, or with a banned key')}
    ${number('Banned keys', banned, banned === 0 ? 'none right now' : html`lift bans among the <a href="/dashboard/keys">API keys</a>`)}
  </ul>`;
};

const left = (title: string, { window, limit, remaining }: WindowState, about: Child): Html =>
  html`<li class="card">
    <h2 id="left-${window}">${title}</h2>
    <p class="big">${count(remaining)} <span>of ${count(limit)}</span></p>
    <meter aria-labelledby="left-${window}" min="0" max="${limit}" low="${limit * 0.1}" optimum="${limit}" value="${remaining}">${count(remaining)} of ${count(limit)}</meter>
    <p class="quiet">${about}</p>
  </li>`;

const number = (title: string, value: number, about: Child): Html => html`<li class="card">
    <h2>${title}</h2>
    <p class="big ${value > 0 && 'bad'}">${count(value)}</p>
    <p class="quiet">${about}</p>
  </li>`;
