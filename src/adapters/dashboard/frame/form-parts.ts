import * as v from 'valibot';
import { type Overlap, overlaps } from '../../../kernel/overlap.ts';
import { type Child, html, type Html, nothing } from './html.ts';
import { accountPath } from './paths.ts';
import type { Refusal } from './screen.ts';

interface Labelled {
  readonly label: string;
  readonly name: string;
  readonly hint?: Child;
  readonly key?: string | undefined;
}

/**
 * Shows a control with its label, hint and error. An invalid control gets the focus, which also scrolls to it. Form
 * actions have no `#…`, because browsers then ignore the focus.
 * @param control gets the attributes that connect it to the rest
 */
const labelled = (
  { label, name, hint, key = '' }: Labelled,
  refusal: Refusal | undefined,
  control: (connected: Html) => Html,
): Html => {
  const id = `${name}${key}`;
  const wrong = refusal?.field === name ? refusal.message : undefined;
  const described = [hint && `${id}-hint`, wrong !== undefined && `${id}-error`].filter(Boolean);
  const connected = html`id="${id}" name="${name}"
      ${wrong !== undefined && html`autofocus aria-invalid="true"`}
      ${described.length > 0 && html`aria-describedby="${described.join(' ')}"`}`;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${control(connected)}
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${wrong !== undefined && html`<p class="error" id="${id}-error" data-refusal>${wrong}${refusal?.isByPlan && planLink}</p>`}
  </div>`;
};

export interface FieldOptions extends Labelled {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'file' | 'date';
  readonly value?: string;
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly placeholder?: string;
  readonly maxlength?: number;
  readonly min?: string;
  readonly inputmode?: 'numeric' | 'url' | 'email';
  readonly accept?: string;
  readonly autofocus?: boolean;
  readonly list?: string;
}

const optional = [
  'autocomplete',
  'placeholder',
  'maxlength',
  'min',
  'inputmode',
  'list',
  'accept',
] as const;

export const field = (options: FieldOptions, refusal?: Refusal): Html => {
  const { name, type = 'text', required = true } = options;
  const isKept = type !== 'password' && type !== 'file';
  const value = isKept ? (refusal?.values[name] ?? options.value ?? '') : '';
  return labelled(
    options,
    refusal,
    (connected) => html`<input ${connected} type="${type}" ${value !== '' && html`value="${value}"`}
      ${required && html`required`} ${options.autofocus && !refusal && html`autofocus`}
      ${optional.map((one) => options[one] !== undefined && html`${one}="${options[one]}" `)}>`,
  );
};

export const textArea = (options: Labelled, refusal?: Refusal): Html =>
  labelled(
    options,
    refusal,
    (connected) =>
      html`<textarea ${connected} rows="6" spellcheck="false" autocomplete="off" required>${refusal?.values[options.name]}</textarea>`,
  );

export interface SelectOptions extends Labelled {
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly value?: string | undefined;
}

export const select = (options: SelectOptions, refusal?: Refusal): Html => {
  const chosen = refusal?.values[options.name] ?? options.value ?? '';
  return labelled(
    options,
    refusal,
    (connected) => html`<select ${connected}>
      ${options.options.map(([value, text]) => html`<option value="${value}" ${value === chosen && html`selected`}>${text}</option>`)}
    </select>`,
  );
};

const planLink = html` <a href="${accountPath}">See your plan</a>`;

/** Shows the form's problem and focuses it, unless one of the fields shows it. */
export const formError = (refusal: Refusal | undefined, hasFields = true): Html =>
  refusal?.message !== undefined && (refusal.field === undefined || !hasFields)
    ? html`<p class="error" role="alert" tabindex="-1" autofocus data-refusal>${refusal.message}${refusal.isByPlan && planLink}</p>`
    : nothing;

export interface ButtonOptions {
  readonly about?: string;
  readonly once?: string;
  readonly ends?: boolean;
  readonly isMain?: boolean;
}

export const buttonForm = (
  action: string,
  label: string,
  { about, once, ends, isMain }: ButtonOptions = {},
): Html =>
  html`<form method="post" action="${action}" class="inline">
    ${once !== undefined && onceInput(once)}
    <button ${ends && html`class="ending"`} ${isMain && html`class="main"`} ${about !== undefined && html`title="${about}"`}>${label}</button>
  </form>`;

/** Names the hidden field that identifies one submission of a form; see `Form.once`. */
export const onceField = 'once';

/** @param id differs each time the form is shown */
export const onceInput = (id: string): Html =>
  html`<input type="hidden" name="${onceField}" value="${id}">`;

export interface Confirmation {
  readonly id: string;
  readonly label: string;
  readonly about: string;
  readonly question: Child;
  readonly consequences: Child;
  readonly confirm: string;
  readonly action: string;
  /** The action cannot be undone, but destroys nothing, such as a sale. */
  readonly goesOn?: boolean;
  readonly once?: string;
  readonly fields?: Child;
}

/** Shows a button that asks before an action that cannot be undone. Works without scripts. */
export const confirmedForm = (asked: Confirmation): Html => {
  const { id, label, about, goesOn } = asked;
  return html`<button type="button" ${!goesOn && html`class="ending"`} popovertarget="${id}" aria-haspopup="dialog" title="${about}">${label}</button>
  ${dialogOf(asked)}`;
};

export const dialogOf = (asked: Confirmation): Html => {
  const { id, question, consequences, confirm, action, goesOn, once, fields } = asked;
  return html`<div popover id="${id}" class="dialog" role="dialog" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${question}</h2>
    <p>${consequences}</p>
    <form method="post" action="${action}">
      ${once !== undefined && onceInput(once)}
      ${fields}
      <div class="row">
        <button ${goesOn ? html`class="main"` : html`class="danger"`}>${confirm}</button>
        <button type="button" class="bare" popovertarget="${id}" popovertargetaction="hide" autofocus>Keep</button>
      </div>
    </form>
  </div>`;
};

const overlapWords: Readonly<Record<Overlap, string>> = {
  '0': 'no time',
  '15m': '15 minutes',
  '1h': '1 hour',
  '24h': '24 hours',
  '7d': '7 days',
};

const overlapNames = Object.keys(overlaps) as [Overlap, ...Overlap[]];

export const overlapSchema = v.object({
  overlap: v.picklist(overlapNames, 'Choose one of the times.'),
});

export const overlapSelect = (key?: string): Html => {
  const options = overlapNames.map((one) => [one, overlapWords[one]] as const);
  return select({ label: 'Keep old secret for', name: 'overlap', key, value: '24h', options });
};
