import * as v from 'valibot';
import { defaultScopes, type Scope, scopes } from '../../../access/domain/api-key.ts';
import type { IssuedKey } from '../../../access/use-cases/api-keys.ts';
import type { Project } from '../../../sites/domain/project.ts';
import { dayMs } from '../../../kernel/durations.ts';
import { type Overlap, overlaps } from '../../../kernel/overlap.ts';
import { isDay, isName } from '../../../kernel/text.ts';
import { field, formError, onceInput, select } from '../frame/form-parts.ts';
import { html, type Html } from '../frame/html.ts';
import { copyable, secretCard, time } from '../frame/parts.ts';
import type { Refusal, Shown } from '../frame/screen.ts';
import { filled } from '../frame/sent-form.ts';
import type { DashboardSettings } from '../ports.ts';

/** Parses the form of a new key. The domain checks that the expiry is in the future. */
export const keyDraft = v.pipe(
  v.object({
    name: v.pipe(
      filled('Give the key a name, such as the program that will use it.'),
      v.check(
        (name) => isName(name, 100),
        'A name has at most 100 characters, on one line and without direction marks.',
      ),
    ),
    scopes: v.pipe(
      v.string(),
      v.transform((text) => scopes.filter((scope) => text.split(',').includes(scope))),
      v.minLength(1, 'Choose at least one scope.'),
    ),
    project: v.optional(v.string(), ''),
    expires: v.pipe(
      v.string(),
      v.check(
        (text) => text === '' || isDay(text),
        'Write the day like 2027-01-31, or leave it empty.',
      ),
    ),
  }),
  v.transform(({ name, scopes, project, expires }) => ({
    name,
    scopes,
    project,
    ...(expires !== '' && { expiresAt: new Date(`${expires}T00:00:00Z`) }),
  })),
);

const scopeWords: Readonly<Record<Scope, string>> = {
  'pets:read': 'read animals',
  'pets:write': 'add animals',
  'orders:read': 'read orders',
  'deploys:write': 'deploy sites',
};

interface NewKeyView {
  readonly now: Date;
  readonly once: string;
  readonly projects: readonly Project[];
  readonly refusal: Refusal | undefined;
}

export const newKeyForm = ({ now, once, projects, refusal }: NewKeyView): Html =>
  html`<form method="post" action="/dashboard/keys">
    ${formError(refusal)}
    ${onceInput(once)}
    <div class="fields">
      ${field({ label: 'Key name', name: 'name', maxlength: 100, placeholder: 'Till at the entrance', autocomplete: 'off' }, refusal)}
      ${field(
        {
          label: 'Expires on',
          name: 'expires',
          type: 'date',
          required: false,
          min: tomorrow(now),
          hint: 'It stops working at 00:00 UTC on that day. Leave empty for a key that never expires.',
        },
        refusal,
      )}
    </div>
    ${scopeChoice(refusal)}
    ${projectChoice(projects, refusal)}
    <div><button class="main">Create key</button></div>
  </form>`;

const tomorrow = (now: Date): string => new Date(now.getTime() + dayMs).toISOString().slice(0, 10);

const scopeChoice = (refusal: Refusal | undefined): Html => {
  const chosen = refusal ? (refusal.values['scopes'] ?? '').split(',') : defaultScopes;
  const wrong = refusal?.field === 'scopes' ? refusal.message : undefined;
  return html`<fieldset ${wrong !== undefined && html`aria-describedby="scopes-error"`}>
    <legend>Scopes: what the key may do</legend>
    <input type="hidden" name="scopes" value="">
    <div class="row">
      ${scopes.map(
        (scope, at) => html`<label>
          <input type="checkbox" name="scopes" value="${scope}" ${chosen.includes(scope) && html`checked`}
            ${wrong !== undefined && html`aria-invalid="true" ${at === 0 && html`autofocus`}`}>
          ${scopeWords[scope]} <code>${scope}</code>
        </label>`,
      )}
    </div>
    ${wrong !== undefined && html`<p class="error" id="scopes-error" data-refusal>${wrong}</p>`}
  </fieldset>`;
};

const projectChoice = (projects: readonly Project[], refusal: Refusal | undefined): Html =>
  select(
    {
      label: 'May deploy to',
      name: 'project',
      hint: html`Counts only with <code>deploys:write</code>.`,
      options: [['', 'All projects'], ...projects.map(({ slug, name }) => [slug, name] as const)],
    },
    refusal,
  );

interface NewSecret {
  readonly key: IssuedKey;
  readonly overlap?: Overlap;
  /** The slug of the one project that it may deploy to; empty or missing for all. */
  readonly project?: string;
  readonly now: Date;
  readonly settings: Pick<DashboardSettings, 'apiUrl' | 'origin'>;
  readonly way: string;
}

export const shownKey = ({
  key,
  overlap,
  project = '',
  now,
  settings,
  way,
}: NewSecret): Omit<Shown, 'status'> => ({
  title: `The secret of ${key.name}`,
  secret: secretCard({
    id: 'secret-title',
    heading: overlap === undefined ? `Your new key: ${key.name}` : `The new secret of ${key.name}`,
    advice: html`Copy it now and store it where only your program can read it. <strong>It is not shown again</strong>: we store only a hash of it.`,
    secret: key.secret,
    what: 'key',
    more: html`${overlap !== undefined && html`<p>${oldSecret(overlap, now)}</p>`}
    <h3>Try it</h3>
    ${copyable(exampleCall(key, project || 'PROJECT', settings), 'call')}`,
    next: { to: way, label: 'I have stored it' },
  }),
});

const oldSecret = (overlap: Overlap, now: Date): Html =>
  overlap === '0'
    ? html`The old secret no longer works.`
    : html`The old secret expires ${time(new Date(now.getTime() + overlaps[overlap]), now)}. Until then both work.`;

const asking: readonly (readonly [scope: Scope, path: string])[] = [
  ['pets:read', '/pets'],
  ['orders:read', '/store/orders'],
];

const exampleCall = (
  { secret, scopes }: IssuedKey,
  project: string,
  { apiUrl, origin }: NewSecret['settings'],
): string => {
  const authorization = `-H 'Authorization: Bearer ${secret}'`;
  const [, path] = asking.find(([scope]) => scopes.includes(scope)) ?? [];
  if (path !== undefined) return `curl ${authorization} ${apiUrl}${path}`;
  if (!scopes.includes('pets:write')) {
    const archive = `-H 'Content-Type: application/gzip' --data-binary @site.tar.gz`;
    return `curl ${authorization} ${archive} ${origin}/deploys/${project}`;
  }
  const body = `-H 'Content-Type: application/json' -d '{"name": "Rex", "categoryId": 1}'`;
  return `curl ${authorization} ${body} ${apiUrl}/pets`;
};
