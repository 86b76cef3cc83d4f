import type { ApiKey, Ban } from '../../../access/domain/api-key.ts';
import type { CallsOfKey, RequestsOfKey } from '../../../access/ports.ts';
import type { DashboardSettings } from '../ports.ts';
import { html, type Html } from '../frame/html.ts';
import { addressOf, type ListAddress } from '../frame/list-parts.ts';
import { badge, count, counted, day, fullTime, naming, table, time } from '../frame/parts.ts';
import { hourMs } from '../../../kernel/durations.ts';

const recentMs = 7 * 24 * hourMs;

type BannedKey = ApiKey & { readonly ban: Ban };

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
  table(keys, [
    ['Key', 'text', ({ name }) => name],
    ['Banned', 'text', ({ ban }) => fullTime(ban.since, now)],
    ['Duration', 'text', ({ ban }) => counted(ban.minutes, 'minute')],
    [
      'State',
      'text',
      ({ ban: { until } }) =>
        html`<span>${now < until ? html`${badge('banned', 'bad')} ends` : badge('ended', 'idle')} ${time(until, now)}</span>`,
    ],
  ]);

export interface KeyUse {
  readonly keyId: string;
  readonly name: string;
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
}

/** Sorts the busiest keys first. */
export const usesOf = (
  sums: readonly RequestsOfKey[],
  names: (keyId: string) => string,
): readonly KeyUse[] => {
  const uses = [...Map.groupBy(sums, ({ keyId }) => keyId)].map(([keyId, its]): KeyUse => {
    const sumOf = (...outcomes: readonly RequestsOfKey['outcome'][]) =>
      its
        .filter(({ outcome }) => outcomes.includes(outcome))
        .reduce((sum, { requests }) => sum + requests, 0);
    return {
      keyId,
      name: names(keyId),
      requests: its.reduce((sum, { requests }) => sum + requests, 0),
      refused: sumOf('refused'),
      failed: sumOf('4xx', '5xx'),
    };
  });
  return uses.toSorted((a, b) => b.requests - a.requests);
};

export const requestsByKey = (
  uses: readonly KeyUse[],
  address: ListAddress,
  words: string,
): Html => html`<section class="card">
    <h2>By API key</h2>
    ${
      uses.length === 0
        ? html`<p>No requests in ${words}.</p>`
        : [useTable(uses.slice(0, mostSeen), address), others(uses.slice(mostSeen), address)]
    }
  </section>`;

const mostSeen = 20;

const others = (uses: readonly KeyUse[], address: ListAddress): Html | false =>
  uses.length > 0 &&
  html`<details><summary>${counted(uses.length, 'more key')}</summary>${useTable(uses, address)}</details>`;

const useTable = (uses: readonly KeyUse[], address: ListAddress): Html =>
  table(uses, [
    [
      'Key',
      'name',
      ({ keyId, name }) => html`<a href="${addressOf(address, { key: keyId })}">${name}</a>`,
    ],
    ['Requests', 'number', ({ requests }) => count(requests)],
    ['With an error (4xx, 5xx)', 'number', ({ failed }) => count(failed)],
    ['Refused (429)', 'number', ({ refused }) => count(refused)],
  ]);

export const namesOf = (keys: readonly ApiKey[]) => naming(keys.map(({ id, name }) => [id, name]));

interface DeprecationFacts extends Pick<DashboardSettings, 'deprecated' | 'apiUrl'> {
  readonly now: Date;
}

export const deprecatedCalls = (
  calls: readonly CallsOfKey[],
  keys: readonly ApiKey[],
  facts: DeprecationFacts,
): Html =>
  html`<section class="card">
    <h2>Keys that still call a deprecated operation</h2>
    ${
      calls.length === 0
        ? html`<p>None in the last 30 days. The removal of deprecated operations will not affect you.</p>`
        : html`<p class="hint">Update these clients before the operation is removed. The <a href="${facts.apiUrl.replace(/\/v1$/, '/docs')}">API reference</a> names the replacement.</p>
          ${callTable(calls, keys, facts)}`
    }
  </section>`;
const callTable = (
  calls: readonly CallsOfKey[],
  keys: readonly ApiKey[],
  { deprecated, now }: DeprecationFacts,
): Html => {
  const names = namesOf(keys);
  const isRecent = (at: Date) => now.getTime() - at.getTime() < hourMs;
  return table(calls, [
    ['Key', 'text', ({ keyId }) => names(keyId)],
    ['Operation', 'text', ({ operation }) => html`<code>${operation}</code>`],
    ['Requests in 30 days', 'text', ({ requests }) => count(requests)],
    [
      'Last call',
      'text',
      ({ lastHour }) => (isRecent(lastHour) ? 'within this hour' : time(lastHour, now)),
    ],
    [
      'Removal date',
      'text',
      ({ operation }) => {
        const removal = deprecated.get(operation);
        return removal && day(removal);
      },
    ],
  ]);
};
