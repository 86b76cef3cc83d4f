import type { ApiKey } from '../../../access/domain/api-key.ts';
import type { Ban } from '../../../access/domain/ban.ts';
import type { CallsOfKey } from '../../../access/usage-ports.ts';
import type { DashboardSettings } from '../frame/ports.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { badge, count, counted, day, fullTime, time } from '../frame/parts.ts';

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
    <p class="quiet">An API key that is refused 10 times in a minute is banned for 5 minutes. Each further ban within 24 hours lasts twice as long, up to 1 hour.</p>
    ${recent.length === 0 ? html`<p>No bans in the last 7 days.</p>` : banTable(recent, now)}
  </section>`;
};

const banTable = (keys: readonly BannedKey[], now: Date): Html => html`<div class="table">
  <table class="cards-on-phone">
    <thead><tr><th scope="col">Key</th><th scope="col">Banned</th><th scope="col">Duration</th><th scope="col">State</th></tr></thead>
    <tbody>${keys.map(
      ({ name, ban }) => html`<tr>
        <td data-label="Key">${name}</td>
        <td data-label="Banned">${fullTime(ban.since, now)}</td>
        <td data-label="Duration">${counted(ban.minutes, 'minute')}</td>
        <td data-label="State"><span>${now < ban.until ? html`${badge('banned', 'bad')} ends ${time(ban.until, now)}` : html`${badge('ended', 'idle')} ${time(ban.until, now)}`}</span></td>
      </tr>`,
    )}</tbody>
  </table>
</div>`;

interface DeprecationFacts extends Pick<DashboardSettings, 'deprecated' | 'apiUrl'> {
  readonly now: Date;
}

/** The keys that must change before an operation is removed. */
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
        ? html`<p>None in the last 30 days. The removal of deprecated operations will not affect you.</p>`
        : html`<p class="quiet">Update these clients before the operation is removed. The <a href="${apiUrl.replace(/\/v1$/, '/docs')}">API reference</a> names the replacement.</p>
          <div class="table"><table class="cards-on-phone">
            <thead><tr><th scope="col">Key</th><th scope="col">Operation</th><th scope="col">Requests in 30 days</th><th scope="col">Last call</th><th scope="col">Removal date</th></tr></thead>
            <tbody>${calls.map(({ keyId, operation, requests, lastHour }) => {
              const removal = deprecated.get(operation);
              return html`<tr>
                <td data-label="Key">${names.get(keyId) ?? keyId}</td>
                <td data-label="Operation"><code>${operation}</code></td>
                <td data-label="Requests in 30 days">${count(requests)}</td>
                <td data-label="Last call">${now.getTime() - lastHour.getTime() < hourMs ? 'within this hour' : time(lastHour, now)}</td>
                <td data-label="Removal date">${removal ? day(removal) : nothing}</td>
              </tr>`;
            })}</tbody>
          </table></div>`
    }
  </section>`;
};
