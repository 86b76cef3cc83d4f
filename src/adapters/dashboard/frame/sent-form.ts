import { hash } from 'node:crypto';
import type { Context } from 'koa';
import readBytes from 'raw-body';
import * as v from 'valibot';
import type { DashboardPorts } from '../ports.ts';
import { onceField } from './form-parts.ts';
import { html, type Html, nothing } from './html.ts';
import { PageProblem } from './page-problem.ts';
import { type Form, type Outcome, pathOf, type Screen, type Visit } from './screen.ts';

/** Enough for settings of 16 KiB with every byte percent-encoded, and the other fields. */
const largest = 64 * 1024;

export const readForm = (
  ctx: Context,
  { deadline }: Pick<DashboardPorts, 'deadline'>,
): Promise<Readonly<Record<string, string>>> => deadline.apart(() => readFields(ctx));

const readFields = async (ctx: Context): Promise<Readonly<Record<string, string>>> => {
  if (!ctx.is('application/x-www-form-urlencoded') || ctx.get('Content-Encoding') !== '') {
    throw new PageProblem(415, 'This form has to be sent by a browser.');
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(await readText(ctx))) {
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(fields);
};

const readText = async (ctx: Context): Promise<string> => {
  try {
    const { length } = ctx.request;
    return (await readBytes(ctx.req, { length, limit: largest })).toString();
  } catch (error) {
    throw (error as { type?: string }).type === 'entity.too.large'
      ? new PageProblem(413, 'The form is too long. It can hold 64 KiB.')
      : new PageProblem(400, 'The form was cut off. Send it again.');
  }
};

export const filled = (refusal: string) => v.pipe(v.string(), v.trim(), v.minLength(1, refusal));

export const checkForm = <
  Schema extends v.GenericSchema<Record<string, string | undefined>, unknown>,
>(
  schema: Schema,
  values: Readonly<Record<string, string>>,
):
  | { readonly kind: 'accepted'; readonly output: v.InferOutput<Schema> }
  | { readonly kind: 'refused'; readonly field: string | undefined; readonly message: string } => {
  const result = v.safeParse(schema, values);
  if (result.success) return { kind: 'accepted', output: result.output };
  const [issue] = result.issues;
  const field = v.getDotPath(issue) ?? undefined;
  const isMissing = field !== undefined && values[field] === undefined;
  return { kind: 'refused', field, message: isMissing ? 'This field is missing.' : issue.message };
};

interface SentForm {
  readonly screen: Pick<Screen, 'path'>;
  readonly form: Pick<Form, 'path' | 'once'>;
  readonly visit: Visit;
  readonly values: Readonly<Record<string, string>>;
  readonly ports: Pick<DashboardPorts, 'idempotencyKeys'>;
}

export const shownOnce = 'shown-once';

/**
 * Acts once on a form that is sent twice, by a second click or a reload, and redirects both times to the same page. If
 * that page showed a secret, redirects to the screen, which explains it. Acts again if the values differ, because people
 * go back to a form to send another one.
 * @throws PageProblem
 */
export const actOnce = async <Led extends Outcome>(
  { screen, form, visit, values, ports }: SentForm,
  act: () => Promise<Led>,
): Promise<Led | Outcome> => {
  const { [onceField]: submission = '' } = values;
  if (!/^[\w-]{10,40}$/.test(submission)) {
    throw new PageProblem(400, 'Load the page again, then send it.');
  }
  const key = hash('sha256', JSON.stringify([form.path, visit.parameters, values]), 'hex');
  const request = { accountId: visit.accountId, key, fingerprint: key, now: visit.now };
  const work = async () => {
    const led = await act();
    const outcome: Outcome = led;
    const { to, done } = 'to' in outcome ? outcome : { to: pathOf(screen, visit), done: shownOnce };
    return { status: 303, headers: {}, body: JSON.stringify({ to, done }), led };
  };
  const { once } = form;
  const admit = typeof once === 'object' ? () => once.admit(visit) : undefined;
  const outcome = await afterFirst(`${visit.accountId} ${key}`, () =>
    ports.idempotencyKeys.once(request, work, admit),
  );
  switch (outcome.kind) {
    case 'answered':
      return outcome.answer.led;
    case 'replayed':
      return JSON.parse(outcome.answer.body) as Outcome;
    case 'in_progress':
      throw new PageProblem(409, 'This form is already being processed. Reload in a moment.');
    case 'unknown':
    case 'reused':
      throw new PageProblem(
        409,
        'The form was cut off, but may have taken effect. Check before you send it again.',
      );
  }
};

const underWay = new Map<string, Promise<unknown>>();

/** Lets a second click wait for the first one, if both reach this process. */
const afterFirst = async <T>(click: string, act: () => Promise<T>): Promise<T> => {
  for (let first = underWay.get(click); first; first = underWay.get(click)) {
    await first.catch(() => undefined);
  }
  const acting = act().finally(() => underWay.delete(click));
  underWay.set(click, acting);
  return acting;
};

const doneField = 'done';

/**
 * Signs the code of a notice for the next page. Only this session can sign it, so links from elsewhere cannot show a
 * notice.
 * @param secret of the session
 */
export const signedCode = (secret: string, code: string): string =>
  `${code}.${proofOf(secret, code)}`;

/**
 * @param secret of the session; anybody could sign with an empty one
 * @returns the query with the plain code, or without it if this session did not sign it
 */
export const withVerifiedCode = (query: URLSearchParams, secret: string): URLSearchParams => {
  const [code = '', proof] = query.get(doneField)?.split('.') ?? [];
  const proven = new URLSearchParams(query);
  if (secret !== '' && proof === proofOf(secret, code)) proven.set(doneField, code);
  else proven.delete(doneField);
  return proven;
};

const proofOf = (secret: string, code: string): string =>
  hash('sha256', JSON.stringify([secret, code]), 'base64url').slice(0, 11);

/** A form that was sent after the session had ended. It is kept during the sign-in and shown again with its values. */
export interface KeptForm {
  readonly url: string;
  /** Contains no secrets, and no id of the submission, because the page creates a new one. */
  readonly values: Readonly<Record<string, string>>;
  readonly personId?: string | undefined;
}

/**
 * Shows a kept form with its values, or sends it if its sender only had to confirm who they are. Acts as the person who
 * is signed in now.
 */
export type Refill = (ctx: Context, kept: KeptForm, then?: 'send') => Promise<void>;

interface Back {
  readonly values: KeptForm['values'];
  readonly isSent: boolean;
}
const comesBack = new WeakMap<Context, Back>();

export const noteKept = (ctx: Context, { values }: KeptForm, then?: 'send'): void => {
  comesBack.set(ctx, { values, isSent: then === 'send' });
};

export const keptIn = (ctx: Context): Back => comesBack.get(ctx) ?? { values: {}, isSent: false };

/** @returns the form that is shown again, so that it can be kept once more */
export const keptAgain = (ctx: Context): KeptForm | undefined => {
  const back = comesBack.get(ctx);
  return back && { url: ctx.url, values: back.values };
};

const keptField = 'kept';
const keptSchema = v.object({
  url: v.pipe(v.string(), v.startsWith('/dashboard')),
  values: v.record(v.string(), v.string()),
  personId: v.optional(v.string()),
});

/** The size when percent-encoded. It leaves room for the sign-in form's own fields; see `readForm`. */
const mostKept = 60 * 1024;

export const keptOf = (
  url: string,
  values: KeptForm['values'],
  left: readonly string[],
): KeptForm | undefined => {
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

export const linkWithKept = (kept: KeptForm | undefined, { to, label, look }: Way): Html =>
  kept
    ? html`<form method="post" action="${to}" class="inline">${keptInput(kept)}<button>${label}</button></form>`
    : html`<a ${look && html`class="${look}"`} href="${to}">${label}</a>`;

export const keptAlone = (values: Readonly<Record<string, string>>): KeptForm | undefined =>
  values['email'] === undefined ? readKept(values) : undefined;

export const readKept = (values: Readonly<Record<string, string>>): KeptForm | undefined => {
  try {
    const read = v.safeParse(keptSchema, JSON.parse(values[keptField] ?? ''));
    return read.success ? read.output : undefined;
  } catch {
    return undefined;
  }
};
