import { type ApiKey, opens, overlaps, scopes, isBanned } from '../../../access/domain/api-key.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { ListedKey } from '../../../access/ports.ts';
import {
  buttonForm,
  confirmedForm,
  formError,
  onceInput,
  overlapSelect,
} from '../frame/form-parts.ts';
import { type Child, html, type Html, nothing } from '../frame/html.ts';
import { badge, type ColumnsOf, counted, day, exact, minute, table, time } from '../frame/parts.ts';
import type { Refusal } from '../frame/screen.ts';

export interface KeyTableOptions {
  readonly now: Date;
  readonly newId: () => string;
  readonly projects: readonly Project[];
  readonly refusal: Refusal | undefined;
}

export const keyTable = (keys: readonly ListedKey[], options: KeyTableOptions): Html => html`
  ${formError(options.refusal && { ...options.refusal, field: undefined })}
  <p class="hint">Rotating gives a key a new secret; the old one stays valid for the time you choose. Revoking stops a key at once and cannot be undone.</p>
  ${table(keys, Object.values(columns(options)))}`;

/** Several fields share a column. */
type InColumn = 'hint' | 'projectId' | 'createdAt' | 'expiresAt' | 'revokedAt' | 'oldSecretsUntil';

const columns = ({
  now,
  newId,
  projects,
}: KeyTableOptions): ColumnsOf<ListedKey, 'id' | 'accountId' | InColumn> => ({
  name: [
    'Key',
    'bare',
    ({ name, hint }) =>
      html`<span class="lines"><strong>${name}</strong><code class="quiet">${hint}</code></span>`,
  ],
  scopes: ['Scopes', 'text', (key) => [scopeList(key), onlyProject(key, projects)]],
  lastUsedAt: [
    'Last used',
    'text',
    ({ lastUsedAt, createdAt }) =>
      html`<span class="lines"><span>${lastUsedAt ? time(lastUsedAt, now) : 'never'}</span><span class="hint">created ${day(createdAt)}</span></span>`,
  ],
  ban: [
    'State',
    'text',
    (key) =>
      html`<div class="lines">${stateOf(key, now)}${isBanned(key.ban, now) && liftBan(key)}<span class="hint">${expiry(key, now)}</span>${oldSecret(key, now)}</div>`,
  ],
  overlap: [
    'Keep old secret for',
    'text',
    (key) => (opens(key, now) ? rotate(key, newId()) : undefined),
  ],
  actions: ['Actions', 'actions', revoke],
});

const scopeList = (key: ApiKey): Child =>
  key.scopes.length === scopes.length
    ? html`<span title="${scopes.join(', ')}">all</span>`
    : html`<span class="lines">${key.scopes.map((scope) => html`<code>${scope}</code> `)}</span>`;

const onlyProject = ({ projectId }: ApiKey, projects: readonly Project[]): Child => {
  if (projectId === undefined) return undefined;
  const name = projects.find(({ id }) => id === projectId)?.name ?? 'a project that is gone';
  return html`<span class="lines hint">deploys only to ${name}</span>`;
};

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

/** Shown for as long as it is so. */
const oldSecret = (key: ListedKey, now: Date): Html => {
  const { oldSecretsUntil: until } = key;
  if (!until || until <= now || !opens(key, now)) return nothing;
  return html`<span class="hint" data-until="${until.toISOString()}">old secret valid until <time datetime="${until.toISOString()}">${minute(until, now)}</time></span>`;
};

const rotate = ({ id, name }: ApiKey, once: string): Html =>
  html`<form method="post" action="/dashboard/keys/${id}/rotate" class="inline">
    ${onceInput(once)}
    <label class="visually-hidden" for="overlap-${id}">Keep old secret for</label>
    ${overlapSelect(`overlap-${id}`, overlaps)}
    <button title="Make a new secret for ${name}">Rotate</button>
  </form>`;

const liftBan = ({ id, name }: ApiKey): Html =>
  buttonForm(`/dashboard/keys/${id}/lift-ban`, 'Lift ban', { about: `Let ${name} call again now` });

const revoke = ({ id, name }: ApiKey): Html =>
  confirmedForm({
    id: `revoke-${id}`,
    label: 'Revoke',
    about: `Revoke ${name}`,
    question: html`Revoke the key <span class="name">${name}</span>?`,
    consequences: 'Requests with it are refused from now on. This cannot be undone.',
    confirm: 'Revoke key',
    action: `/dashboard/keys/${id}/revoke`,
  });

/** Folded, but listed by name, because the audit log mentions them. */
export const revokedKeys = (keys: readonly ApiKey[], now: Date): Html => html`
  <details class="hint aside">
    <summary>${counted(keys.length, 'revoked key')}</summary>
    <ul class="stack">
      ${keys.map(
        ({ name, hint, revokedAt = now, lastUsedAt }) =>
          html`<li class="row"><span>${name}</span> <code>${hint}</code> <span>${badge('revoked', 'idle')} ${time(revokedAt, now)}</span> <span>${lastUsedAt ? html`last used ${day(lastUsedAt)}` : 'never used'}</span></li>`,
      )}
    </ul>
  </details>`;
