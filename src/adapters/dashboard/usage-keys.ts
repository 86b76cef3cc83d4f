import type { ApiKey } from '../../access/domain/api-key.ts';
import type { Ban } from '../../access/domain/ban.ts';
import type { CallsOfKey } from '../../access/ports.ts';
import type { DashboardSettings } from './dashboard-ports.ts';
import { html, nothing, type Html } from './html.ts';
import { badge, count, counted, day, time } from './parts.ts';

const hourMs = 3_600_000;
const recentMs = 7 * 24 * hourMs;

type BannedKey = ApiKey & { readonly ban: Ban };

/** Bans in force, and those of the last days. */
export const bansOf = (keys: readonly ApiKey[], now: Date): Html => {
  const recent = keys
    .filter((key): key is BannedKey => key.ban !== undefined)
    .filter(({ ban }) => now.getTime() - ban.since.getTime() < recentMs)
    .sort((a, b) => b.ban.since.getTime() - a.ban.since.getTime());
  return html`<section class="card">
    <h2>Bans</h2>
    <p class="quiet">A key that is refused ten times within a minute is banned for 5 minutes; each further ban within a day lasts twice as long, up to an hour.</p>
    ${recent.length === 0 ? html`<p>No key was banned in the last 7 days.</p>` : banTable(recent, now)}
  </section>`;
};

const banTable = (keys: readonly BannedKey[], now: Date): Html => html`<div class="table">
  <table class="cards-on-phone">
    <thead><tr><th>Key</th><th>Banned</th><th>For</th><th>State</th></tr></thead>
    <tbody>${keys.map(
      ({ name, ban }) => html`<tr>
        <td data-label="Key">${name}</td>
        <td data-label="Banned">${time(ban.since, now)}</td>
        <td data-label="For">${counted(ban.minutes, 'minute')}</td>
        <td data-label="State"><span>${now < ban.until ? html`${badge('banned', 'bad')} ends ${time(ban.until, now)}` : html`${badge('over', 'idle')} ${time(ban.until, now)}`}</span></td>
      </tr>`,
    )}</tbody>
  </table>
</div>`;

interface DeprecationFacts extends Pick<DashboardSettings, 'deprecated' | 'apiUrl'> {
  readonly now: Date;
}

/** Who has to change before an operation is removed. */
export const deprecatedCalls = (
  calls: readonly CallsOfKey[],
  keys: readonly ApiKey[],
  { deprecated, apiUrl, now }: DeprecationFacts,
): Html => {
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  return html`<section class="card">
    <h2>Keys that still call a deprecated operation</h2>
    ${
      calls.length === 0
        ? html`<p>None in the last 30 days: nothing of yours stops working when old operations go.</p>`
        : html`<p class="quiet">Change these programs before the operation is removed; the <a href="${apiUrl.replace(/\/v1$/, '/docs')}">reference</a> names what to call instead.</p>
          <div class="table"><table class="cards-on-phone">
            <thead><tr><th>Key</th><th>Operation</th><th>Requests in 30 days</th><th>Last call</th><th>Will be removed</th></tr></thead>
            <tbody>${calls.map(({ keyId, operation, requests, lastHour }) => {
              const removal = deprecated.get(operation);
              return html`<tr>
                <td data-label="Key">${names.get(keyId) ?? keyId}</td>
                <td data-label="Operation"><code>${operation}</code></td>
                <td data-label="Requests in 30 days">${count(requests)}</td>
                <td data-label="Last call">${now.getTime() - lastHour.getTime() < hourMs ? 'within this hour' : time(lastHour, now)}</td>
                <td data-label="Will be removed">${removal ? day(removal) : nothing}</td>
              </tr>`;
            })}</tbody>
          </table></div>`
    }
  </section>`;
};
