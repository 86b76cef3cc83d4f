import { opens, overlaps, scopes, type ApiKey, type Overlap } from '../../access/domain/api-key.ts';
import { isBanned } from '../../access/domain/ban.ts';
import { html, type Child, type Html } from './html.ts';
import { badge, buttonForm, counted, day, exact, onceInput, time } from './parts.ts';
import type { Refusal } from './screen.ts';

/** How long an old secret works on, as people say it. */
export const overlapWords: Readonly<Record<Overlap, string>> = {
  '0': 'no time',
  '15m': '15 minutes',
  '1h': '1 hour',
  '24h': '24 hours',
  '7d': '7 days',
};

export interface KeyTableOptions {
  readonly now: Date;
  /** For `onceInput`. */
  readonly newId: () => string;
  readonly refusal: Refusal | undefined;
}

/** Keys that are not revoked, and what can be done with them. */
export const keyTable = (
  keys: readonly ApiKey[],
  { now, newId, refusal }: KeyTableOptions,
): Html => html`
  ${refusal && html`<p class="error" role="alert">${refusal.message}</p>`}
  <p class="quiet">Rotate gives a key a new secret while the old one works on. Revoke stops it at once and for good, without asking again.</p>
  <div class="table">
    <table class="cards-on-phone keys">
      <thead><tr><th>Key</th><th>Scopes</th><th>Last used</th><th>State</th><th>Old secret works for</th><th><span class="visually-hidden">End it</span></th></tr></thead>
      <tbody>${keys.map((key) => row(key, now, newId()))}</tbody>
    </table>
  </div>`;

const row = (key: ApiKey, now: Date, once: string): Html => html`<tr>
  <td><span class="pair"><strong>${key.name}</strong><code class="quiet">${key.hint}</code></span></td>
  <td data-label="Scopes">${scopeList(key)}</td>
  <td data-label="Last used"><span class="pair"><span>${key.lastUsedAt ? time(key.lastUsedAt, now) : 'never'}</span><span class="quiet">created ${day(key.createdAt)}</span></span></td>
  <td data-label="State"><div class="pair">${stateOf(key, now)}${isBanned(key.ban, now) && liftBan(key)}<span class="quiet">${expiry(key, now)}</span></div></td>
  ${opens(key, now) ? html`<td data-label="Old secret works for">${rotate(key, once)}</td>` : html`<td></td>`}
  <td class="actions">${revoke(key)}</td>
</tr>`;

const scopeList = (key: ApiKey): Child =>
  key.scopes.length === scopes.length
    ? html`<span title="${scopes.join(', ')}">all</span>`
    : html`<span class="scopes">${key.scopes.map((scope) => html`<code>${scope}</code> `)}</span>`;

const stateOf = (key: ApiKey, now: Date): Html => {
  if (!opens(key, now)) return badge('expired', 'idle');
  return isBanned(key.ban, now)
    ? html`<span class="badge bad" title="${exact(key.ban.until)}">banned until ${key.ban.until.toISOString().slice(11, 16)} UTC</span>`
    : badge('active', 'good');
};

const expiry = ({ expiresAt }: ApiKey, now: Date): Html => {
  if (!expiresAt) return html`never expires`;
  return expiresAt <= now ? html`since ${day(expiresAt)}` : html`expires ${day(expiresAt)}`;
};

const rotate = ({ id, name }: ApiKey, once: string): Html =>
  html`<form method="post" action="/dashboard/keys/${id}/rotate" class="inline rotate">
    ${onceInput(once)}
    <label class="visually-hidden" for="overlap-${id}">Old secret works for</label>
    <select id="overlap-${id}" name="overlap">
      ${(Object.keys(overlaps) as Overlap[]).map((one) => html`<option value="${one}" ${one === '24h' && html`selected`}>${overlapWords[one]}</option>`)}
    </select>
    <button title="Make a new secret for ${name}">Rotate</button>
  </form>`;

const liftBan = ({ id, name }: ApiKey): Html =>
  buttonForm(`/dashboard/keys/${id}/lift-ban`, 'Lift ban', { about: `Let ${name} call again now` });

const revoke = ({ id, name }: ApiKey): Html =>
  buttonForm(`/dashboard/keys/${id}/revoke`, 'Revoke', {
    tone: 'ending',
    about: `Stop ${name} at once and for good`,
  });

/** Out of the way, but known by name: the audit log speaks of them. */
export const revokedKeys = (keys: readonly ApiKey[], now: Date): Html => html`
  <details class="revoked">
    <summary>${counted(keys.length, 'revoked key')}</summary>
    <ul class="plain">
      ${keys.map(
        ({ name, hint, revokedAt = now, lastUsedAt }) =>
          html`<li><span>${name}</span> <code>${hint}</code> <span>${badge('revoked', 'idle')} ${time(revokedAt, now)}</span> <span>${lastUsedAt ? html`last used ${day(lastUsedAt)}` : 'never used'}</span></li>`,
      )}
    </ul>
  </details>`;
