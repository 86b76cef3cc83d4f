import type { Context } from 'koa';
import * as v from 'valibot';
import { html, nothing, type Html } from './html.ts';
import { onceField } from './form-parts.ts';
import type { Form } from './screen.ts';

/** A form that was sent after the session had ended: it goes along with the sign-in, and comes back filled in. */
export interface KeptForm {
  /** Path and query that it was sent to. */
  readonly url: string;
  /** Without secrets, and without the id of a submission, which the page makes anew. */
  readonly values: Readonly<Record<string, string>>;
}

/** Shows the page of a form with what was typed. Answers as the person who is signed in now. */
export type Refill = (ctx: Context, kept: KeptForm) => Promise<void>;

const comesBack = new WeakMap<Context, KeptForm['values']>();

export const noteKept = (ctx: Context, { values }: KeptForm): void => {
  comesBack.set(ctx, values);
};

export const keptIn = (ctx: Context): KeptForm['values'] => comesBack.get(ctx) ?? {};

const keptField = 'kept';
const schema = v.object({
  url: v.pipe(v.string(), v.startsWith('/dashboard')),
  values: v.record(v.string(), v.string()),
});

/** Percent-encoded: with it, the form of the sign-in is not too long either; see `readForm`. */
const mostKept = 60 * 1024;

/** @returns undefined for a form that is too long */
export const keptOf = (
  url: string,
  form: Form,
  values: KeptForm['values'],
): KeptForm | undefined => {
  const left = [onceField, ...(form.secrets ?? [])];
  const kept = Object.entries(values).filter(([name]) => !left.includes(name));
  const whole = { url, values: Object.fromEntries(kept) };
  return encodeURIComponent(JSON.stringify(whole)).length > mostKept ? undefined : whole;
};

export const keptInput = (kept: KeptForm | undefined): Html =>
  kept ? html`<input type="hidden" name="${keptField}" value="${JSON.stringify(kept)}">` : nothing;

interface Way {
  readonly to: string;
  readonly label: string;
  readonly look?: 'button';
}

/** A link, or a button that takes the kept form along. */
export const wayWith = (kept: KeptForm | undefined, { to, label, look }: Way): Html =>
  kept
    ? html`<form method="post" action="${to}" class="inline">${keptInput(kept)}<button>${label}</button></form>`
    : html`<a ${look && html`class="${look}"`} href="${to}">${label}</a>`;

/** @returns the kept form if it came without an email address: by `wayWith` */
export const keptAlone = (values: Readonly<Record<string, string>>): KeptForm | undefined =>
  values['email'] === undefined ? readKept(values) : undefined;

/** @param values of the form that brought it along */
export const readKept = (values: Readonly<Record<string, string>>): KeptForm | undefined => {
  try {
    const read = v.safeParse(schema, JSON.parse(values[keptField] ?? ''));
    return read.success ? read.output : undefined;
  } catch {
    return undefined;
  }
};
