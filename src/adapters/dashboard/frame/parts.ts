import { html, nothing, type Child, type Html } from './html.ts';
import type { Refusal } from './screen.ts';
import { dateInWords, inWords, inWordsWithDate } from './time-words.ts';

/** A time from now, with its date where that is days away. The script in the browser keeps it up to date in the same words. */
export const time = (at: Date, now: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${exact(at)}" data-relative>${inWordsWithDate(at, now)}</time>`;

/** With the exact time beside it in small print, for the few places that tell about one thing in detail. */
export const fullTime = (at: Date, now: Date): Html =>
  html`<span class="full-time"><time datetime="${at.toISOString()}" data-relative="plain">${inWords(at, now)}</time> <small>${exact(at)}</small></span>`;

/** `2026-03-01 10:00:00 UTC` */
export const exact = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** `20 Jan 2027` */
export const day = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${exact(at)}">${dateInWords(at)}</time>`;

export const size = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} B`;
  const kib = bytes / 1024;
  return kib < 1024 ? `${kib.toFixed(1)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
};

const numbers = new Intl.NumberFormat('en');
export const count = (number: number | bigint): string => numbers.format(number);

/** `1 file`, `2 files` */
export const counted = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`;

export type Tone = 'good' | 'busy' | 'bad' | 'idle';

/** A state in one word; the colour only repeats what the word says. */
export const badge = (word: string, tone: Tone): Html =>
  html`<span class="badge ${tone}">${word}</span>`;

export interface FieldOptions {
  /** The accessible name. */
  readonly label: string;
  readonly name: string;
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'file' | 'date';
  readonly value?: string;
  readonly hint?: Child;
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
  /** Makes ids unique where a form stands on a page more than once. */
  readonly key?: string;
}

/**
 * A labelled field with its hint, what was typed before, and what is wrong with it. An invalid field gets the focus,
 * which also scrolls to it. Forms have no `#…` in their actions, because browsers then ignore the focus.
 */
export const field = (options: FieldOptions, refusal?: Refusal): Html => {
  const { label, name, type = 'text', hint, required = true, key = '' } = options;
  const id = `${name}${key}`;
  const wrong = refusal?.field === name ? refusal.message : undefined;
  const value = type === 'password' ? '' : (refusal?.values[name] ?? options.value ?? '');
  const described = [hint && `${id}-hint`, wrong !== undefined && `${id}-error`].filter(Boolean);
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input id="${id}" name="${name}" type="${type}" ${value !== '' && type !== 'file' && html`value="${value}"`}
      ${required && html`required`} ${(wrong !== undefined || (options.autofocus && !refusal)) && html`autofocus`}
      ${options.autocomplete && html`autocomplete="${options.autocomplete}"`}
      ${options.placeholder && html`placeholder="${options.placeholder}"`}
      ${options.maxlength !== undefined && html`maxlength="${options.maxlength}"`}
      ${options.min !== undefined && html`min="${options.min}"`}
      ${options.inputmode && html`inputmode="${options.inputmode}"`}
      ${options.list && html`list="${options.list}"`}
      ${options.accept && html`accept="${options.accept}"`}
      ${wrong !== undefined && html`aria-invalid="true"`}
      ${described.length > 0 && html`aria-describedby="${described.join(' ')}"`}>
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${wrong !== undefined && html`<p class="error" id="${id}-error" data-refusal>${wrong}</p>`}
  </div>`;
};

export interface SelectOptions {
  readonly label: string;
  readonly name: string;
  readonly options: readonly { readonly value: string; readonly text: string }[];
  readonly value?: string;
  readonly hint?: Child;
  readonly key?: string;
}

export const select = (
  { label, name, options, value, hint, key = '' }: SelectOptions,
  refusal?: Refusal,
): Html => {
  const id = `${name}${key}`;
  const chosen = refusal?.values[name] ?? value;
  const wrong = refusal?.field === name ? refusal.message : undefined;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <select id="${id}" name="${name}" ${wrong !== undefined && html`autofocus aria-invalid="true" aria-describedby="${id}-error"`}>
      ${options.map((one) => html`<option value="${one.value}" ${one.value === chosen && html`selected`}>${one.text}</option>`)}
    </select>
    ${hint && html`<p class="hint">${hint}</p>`}
    ${wrong !== undefined && html`<p class="error" id="${id}-error" data-refusal>${wrong}</p>`}
  </div>`;
};

/** The problem of a form as a whole, with the focus on it; nothing if it is shown beside a field. */
export const formError = (refusal: Refusal | undefined): Html =>
  refusal && refusal.field === undefined
    ? html`<p class="error" role="alert" tabindex="-1" autofocus data-refusal>${refusal.message}</p>`
    : nothing;

export interface ButtonOptions {
  /** `ending`: what it does cannot be undone. */
  readonly tone?: 'plain' | 'main' | 'danger' | 'ending';
  /** Says more than the label, where many have the same. */
  readonly about?: string;
  /** See `onceInput`. */
  readonly once?: string;
}

/** A form that is one button. */
export const buttonForm = (
  action: string,
  label: string,
  { tone = 'plain', about, once }: ButtonOptions = {},
): Html =>
  html`<form method="post" action="${action}" class="inline">
    ${once !== undefined && onceInput(once)}
    <button class="${tone}" ${about !== undefined && html`title="${about}"`}>${label}</button>
  </form>`;

/** An empty place that says what comes next. */
export const empty = (title: string, text: Child, step?: Child): Html =>
  html`<div class="empty"><h3>${title}</h3><p>${text}</p>${step}</div>`;

/** Copies a text. Without the script there is nothing to copy with, so it is not shown. */
export const copyButton = (text: string, what: string): Html =>
  html`<button type="button" class="copy" data-copy="${text}" title="Copy ${what}" hidden>Copy</button>`;

/** Links to the next ones; nothing where there is one page only. @param of what, where a page has several lists */
export const pager = (links: {
  readonly first?: string | undefined;
  readonly next?: string | undefined;
  readonly of?: string;
}): Html => {
  const of = links.of === undefined ? '' : ` ${links.of}`;
  return links.first === undefined && links.next === undefined
    ? nothing
    : html`<nav class="pager" aria-label="Pages${of && ` of${of}`}">
        ${links.first !== undefined && html`<a href="${links.first}">Back to the newest${of}</a>`}
        ${links.next !== undefined && html`<a href="${links.next}" rel="next">Older${of}</a>`}
      </nav>`;
};

/** Name of the hidden field that identifies one submission of a form; see `Form.once`. */
export const onceField = 'once';

/** @param id new for each time that the form is shown */
export const onceInput = (id: string): Html =>
  html`<input type="hidden" name="${onceField}" value="${id}">`;
