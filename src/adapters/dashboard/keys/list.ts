import { type ApiKey, opens, scopes, isBanned } from '../../../access/domain/api-key.ts';
import type { Project } from '../../../sites/domain/project.ts';
import type { ListedKey } from '../../../access/ports.ts';
import { type Confirmation, formError, overlapSelect } from '../frame/form-parts.ts';
import { type Child, html, type Html, nothing } from '../frame/html.ts';
import { type ListPlace, pageIn, rowList, rowMenu } from '../frame/list-parts.ts';
import { badge, type ColumnsOf, counted, day, exact, atClock, time } from '../frame/parts.ts';
import type { Refusal, Visit } from '../frame/screen.ts';

export interface KeyTableOptions {
  readonly now: Date;
  readonly newId: () => string;
  readonly projects: readonly Project[];
  readonly may: Visit['may'];
  readonly refusal: Refusal | undefined;
  readonly place: ListPlace;
}

export const keyTable = (keys: readonly ListedKey[], options: KeyTableOptions): Html => html`
  ${formError(options.refusal, false)}
  ${rowList(keys, Object.values(columns(options)))}`;

type InColumn = 'hint' | 'projectId' | 'createdAt' | 'expiresAt' | 'revokedAt' | 'oldSecretsUntil';

const named = ({ name, hint }: ApiKey): Html => html`${name} <code class="quiet">${hint}</code>`;

const columns = (
  options: KeyTableOptions,
): ColumnsOf<ListedKey, 'id' | 'accountId' | InColumn> => ({
  name: ['Key', 'name', named],
  scopes: ['Scopes', 'text', (key) => [scopeList(key), onlyProject(key, options.projects)]],
  lastUsedAt: [
    'Last used',
    'text',
    ({ lastUsedAt, createdAt }) =>
      html`<span class="whole" title="created ${exact(createdAt)}">${lastUsedAt ? html`used\u00a0${time(lastUsedAt, options.now)}` : 'never used'}</span>`,
  ],
  ban: [
    'State',
    'text',
    (key) =>
      html`<div class="whole">${stateOf(key, options.now)} <small>${expiry(key, options.now)}</small></div>${oldSecret(key, options.now)}`,
  ],
  actions: ['Actions', 'actions', (key) => menu(key, options)],
});

const menu = (key: ListedKey, { now, newId, may, place }: KeyTableOptions): Html =>
  rowMenu({ id: key.id, about: key.name }, [
    may('key.rotate') && opens(key, now) && rotate(key, newId(), place),
    may('key.unban') &&
      isBanned(key.ban, now) && {
        label: 'Lift ban',
        action: `/dashboard/keys/${key.id}/lift-ban${place}`,
      },
    may('key.revoke') && revoke(key, place),
  ]);

const scopeList = (key: ApiKey): Child =>
  key.scopes.length === scopes.length
    ? html`<span title="${scopes.join(', ')}">all</span>`
    : html`<span>${key.scopes.map((scope, at) => html`${at > 0 && '\u00a0'}<code>${scope}</code>`)}</span>`;

const onlyProject = ({ projectId }: ApiKey, projects: readonly Project[]): Child => {
  if (projectId === undefined) return undefined;
  const name = projects.find(({ id }) => id === projectId)?.name ?? 'a removed project';
  return html`<div class="hint wrapped">deploys only to ${name}</div>`;
};

const stateOf = (key: ApiKey, now: Date): Html => {
  if (!opens(key, now)) return badge('expired', 'idle');
  return isBanned(key.ban, now)
    ? html`<span class="badge bad"><span>banned until ${atClock(key.ban.until, now)}</span></span>`
    : badge('active', 'good');
};

const expiry = ({ expiresAt }: ApiKey, now: Date): Html => {
  if (!expiresAt) return nothing;
  return expiresAt <= now ? html`since ${day(expiresAt)}` : html`expires ${day(expiresAt)}`;
};

const oldSecret = (key: ListedKey, now: Date): Html => {
  const { oldSecretsUntil: until } = key;
  if (!until || until <= now || !opens(key, now)) return nothing;
  return html`<small data-until="${until.toISOString()}">old secret valid until ${atClock(until, now)}</small>`;
};

const rotate = ({ id, name }: ApiKey, once: string, place: ListPlace): Confirmation => ({
  id: `rotate-${id}`,
  label: 'Rotate',
  about: `Rotate ${name}`,
  question: html`Rotate the key <span class="name">${name}</span>?`,
  consequences: 'It gets a new secret, which is shown once. Until the old one ends, both work.',
  once,
  fields: overlapSelect(`-${id}`),
  confirm: 'Rotate key',
  action: `/dashboard/keys/${id}/rotate${place}`,
  goesOn: true,
});

const revoke = ({ id, name }: ApiKey, place: ListPlace): Confirmation => ({
  id: `revoke-${id}`,
  label: 'Revoke',
  about: `Revoke ${name}`,
  question: html`Revoke the key <span class="name">${name}</span>?`,
  consequences: 'Requests with it are refused from now on. This cannot be undone.',
  confirm: 'Revoke key',
  action: `/dashboard/keys/${id}/revoke${place}`,
});

export const revokedKeys = (
  keys: readonly ApiKey[],
  {
    path,
    after,
    now,
  }: { readonly path: string; readonly after: string | null; readonly now: Date },
): Html => {
  const address = { path, fields: {} };
  const page = { address, after, cursor: 'revoked', of: 'revoked keys', order: 'time' } as const;
  const { shown, links } = pageIn(keys, ({ id }) => id, page);
  return html`
  <details ${after !== null && html`open`}>
    <summary>${counted(keys.length, 'revoked key')}</summary>
    ${rowList<ApiKey>(shown, [
      ['Key', 'name', named],
      [
        'Revoked',
        'text',
        ({ revokedAt = now }) => html`<span class="whole">revoked ${time(revokedAt, now)}</span>`,
      ],
      [
        'Last used',
        'text',
        ({ lastUsedAt }) => (lastUsedAt ? html`last used ${day(lastUsedAt)}` : 'never used'),
      ],
    ])}
    ${links}
  </details>`;
};
