import type { ApiKey } from '../../../access/domain/api-key.ts';
import type { Ban } from '../../../access/domain/ban.ts';
import type { CallsOfKey } from '../../../access/usage-ports.ts';
import type { DashboardSettings } from '../frame/ports.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, count, counted, day, fullTime, time } from '../frame/parts.ts';
import { table } from '../frame/table.ts';

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
    <p class="hint">An API key that is refused 10 times in a minute is banned for 5 minutes. Each further ban within 24 hours lasts twice as long, up to 1 hour.</p>
    ${recent.length === 0 ? html`<p>No bans in the last 7 days.</p>` : banTable(recent, now)}
  </section>`;
};

const banTable = (keys: readonly BannedKey[], now: Date): Html =>
  table(
    { Key: 'text', Banned: 'text', Duration: 'text', State: 'text' },
    keys.map(({ name, ban }) => ({
      cells: {
        Key: name,
        Banned: fullTime(ban.since, now),
        Duration: counted(ban.minutes, 'minute'),
        State: html`<span>${now < ban.until ? html`${badge('banned', 'bad')} ends` : badge('ended', 'idle')} ${time(ban.until, now)}</span>`,
      },
    })),
  );

const callColumns = {
  Key: 'text',
  Operation: 'text',
  'Requests in 30 days': 'text',
  'Last call': 'text',
  'Removal date': 'text',
} as const;

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
  const rows = calls.map(({ keyId, operation, requests, lastHour }) => {
    const removal = deprecated.get(operation);
    const isNow = now.getTime() - lastHour.getTime() < hourMs;
    return {
      cells: {
        Key: names.get(keyId) ?? keyId,
        Operation: html`<code>${operation}</code>`,
        'Requests in 30 days': count(requests),
        'Last call': isNow ? 'within this hour' : time(lastHour, now),
        'Removal date': removal && day(removal),
      },
    };
  });
  return html`<section class="card">
    <h2>Keys that still call a deprecated operation</h2>
    ${
      calls.length === 0
        ? html`<p>None in the last 30 days. The removal of deprecated operations will not affect you.</p>`
        : html`<p class="hint">Update these clients before the operation is removed. The <a href="${apiUrl.replace(/\/v1$/, '/docs')}">API reference</a> names the replacement.</p>
          ${table(callColumns, rows)}`
    }
  </section>`;
};
