import { html, nothing, type Child, type Html } from './html.ts';
import type { Refusal } from './screen.ts';

interface Labelled {
  /** The accessible name. */
  readonly label: string;
  readonly name: string;
  readonly hint?: Child;
  /** Makes ids unique when a page has the same form more than once. */
  readonly key?: string;
}

/**
 * A control with its label, its hint, and what is wrong with it. An invalid one gets the focus, which also scrolls to it.
 * Forms have no `#…` in their actions, because browsers then ignore the focus.
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
    ${wrong !== undefined && html`<p class="error" id="${id}-error" data-refusal>${wrong}</p>`}
  </div>`;
};

export interface FieldOptions extends Labelled {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'file' | 'date';
  readonly value?: string;
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly placeholder?: string;
  readonly maxlength?: number;
  /** The earliest day or least number. */
  readonly min?: string;
  readonly inputmode?: 'numeric' | 'url' | 'email';
  readonly accept?: string;
  readonly autofocus?: boolean;
  /** Id of a list of what could be typed. */
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

/** A field with what was typed before, except passwords and files. */
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

/** A text of several lines. */
export const textArea = (options: Labelled, refusal?: Refusal): Html =>
  labelled(
    options,
    refusal,
    (connected) =>
      html`<textarea ${connected} rows="6" spellcheck="false" autocomplete="off" required>${refusal?.values[options.name]}</textarea>`,
  );

export interface SelectOptions extends Labelled {
  readonly options: readonly (readonly [value: string, text: string])[];
  /** The chosen one; undefined is the empty value. */
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

/** The problem of a form as a whole, with the focus on it; nothing if it is shown beside a field. */
export const formError = (refusal: Refusal | undefined): Html =>
  refusal?.message !== undefined && refusal.field === undefined
    ? html`<p class="error" role="alert" tabindex="-1" autofocus data-refusal>${refusal.message}</p>`
    : nothing;

export interface ButtonOptions {
  /** Says more than the label, where many have the same. */
  readonly about?: string;
  /** See `onceInput`. */
  readonly once?: string;
}

/** A form that is one button. */
export const buttonForm = (
  action: string,
  label: string,
  { about, once }: ButtonOptions = {},
): Html =>
  html`<form method="post" action="${action}" class="inline">
    ${once !== undefined && onceInput(once)}
    <button ${about !== undefined && html`title="${about}"`}>${label}</button>
  </form>`;

/** Name of the hidden field that identifies one submission of a form; see `Form.once`. */
export const onceField = 'once';

/** @param id new for each time that the form is shown */
export const onceInput = (id: string): Html =>
  html`<input type="hidden" name="${onceField}" value="${id}">`;
