import * as v from 'valibot';
import { scopes, type Scope } from '../../../access/domain/api-key.ts';
import { isName } from '../../../kernel/text.ts';
import { checkboxes } from '../frame/checkboxes.ts';
import { filled } from '../frame/form-body.ts';
import { html, type Html } from '../frame/html.ts';
import { field, formError, onceInput } from '../frame/form-parts.ts';
import type { Refusal } from '../frame/screen.ts';

const dayShape = /^\d{4}-\d{2}-\d{2}$/;

/** The form fields of a new key; the domain checks whether the expiry is in the future. */
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
    expires: v.pipe(
      v.string(),
      v.check(
        (text) => text === '' || (dayShape.test(text) && !Number.isNaN(Date.parse(text))),
        'Write the day like 2027-01-31, or leave it empty.',
      ),
    ),
  }),
  v.transform(({ name, scopes, expires }) => ({
    name,
    scopes,
    ...(expires !== '' && { expiresAt: new Date(`${expires}T00:00:00Z`) }),
  })),
);

const scopeWords: Readonly<Record<Scope, string>> = {
  'pets:read': 'read animals',
  'pets:write': 'add animals',
  'orders:read': 'read orders',
};

/** @param once for `onceInput` */
export const newKeyForm = (now: Date, once: string, refusal: Refusal | undefined): Html =>
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
    <div><button class="main">Create key</button></div>
  </form>`;

const tomorrow = (now: Date): string =>
  new Date(now.getTime() + 86_400_000).toISOString().slice(0, 10);

const scopeChoice = (refusal: Refusal | undefined): Html =>
  checkboxes(
    {
      ...{ legend: 'Scopes: what the key may do', name: 'scopes', look: 'row' },
      ...{ values: scopes, chosen: scopes },
      labelOf: (scope) => html`${scopeWords[scope]} <code>${scope}</code>`,
    },
    refusal,
  );
